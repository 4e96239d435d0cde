-- submit.lua: appends tasks to ingress, all or none.
-- KEYS: 1 ingress (stream)
-- ARGV: 1.. tasks
-- Returns: the entry ids, in order
-- Errors: none of its own
local ids = {}
for i = 1, #ARGV do
  ids[i] = redis.call('XADD', KEYS[1], '*', 'task', ARGV[i])
end
return ids
