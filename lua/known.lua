-- known.lua: says which ids would be taken for duplicates; writes nothing.
-- KEYS: 1 tasks (hash) 2 done, current bucket (set) 3 done, previous bucket (set)
-- ARGV: 1.. ids
-- Returns: for each id 1 or 0
-- Errors: none of its own
local known = {}
for i = 1, #ARGV do
  local id = ARGV[i]
  local found = redis.call('HEXISTS', KEYS[1], id) == 1
    or redis.call('SISMEMBER', KEYS[2], id) == 1
    or redis.call('SISMEMBER', KEYS[3], id) == 1
  known[i] = found and 1 or 0
end
return known
