-- admit.lua: deals with a whole prefix of ingress and trims it in one step; with a duplicate among it, does nothing at all.
-- KEYS: 1 fence (string) 2 ingress (stream) 3 pending (zset) 4 tasks (hash) 5 delayed (zset) 6 dead (stream) 7 counters (hash) 8 policy (hash) 9 done, current bucket (set) 10 done, previous bucket (set)
-- ARGV: 1 epoch 2 id after the prefix 3 duplicates to count 4 number pending 5 number delayed 6 number rejected 7 policy fields set 8 policy fields removed 9 "1" to look for duplicates only; from 10: ids (pending, then delayed), score and member of each pending, due and text of each delayed, id and record of each, letter and raw of each rejected, policy fields and values, policy fields removed
-- Returns: places (from 0, among the ids) of those that are known; empty: everything was done
-- Errors: TQ_FENCED epoch fence
local refused = fenced(KEYS[1], ARGV[1])
if refused then
  return refused
end
local duplicates, pending, delayed = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local rejected, sets, removals = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local tasks = pending + delayed

local known = {}
local function look(command, key, hit)
  for at = 1, tasks, CHUNK do
    local last = math.min(at + CHUNK - 1, tasks)
    local found = redis.call(command, key, unpack(ARGV, 9 + at, 9 + last))
    for i = 1, last - at + 1 do
      if hit(found[i]) then
        known[at + i - 2] = true
      end
    end
  end
end
look('HMGET', KEYS[4], function(record) return record end)
look('SMISMEMBER', KEYS[9], function(member) return member == 1 end)
if KEYS[10] ~= KEYS[9] then
  look('SMISMEMBER', KEYS[10], function(member) return member == 1 end)
end
local places = {}
for i = 0, tasks - 1 do
  if known[i] then
    places[#places + 1] = i
  end
end
if #places > 0 or ARGV[9] == '1' then
  return places
end

local at = 10 + tasks
in_pieces('ZADD', KEYS[3], at, at + 2 * pending - 1)
at = at + 2 * pending
in_pieces('ZADD', KEYS[5], at, at + 2 * delayed - 1)
at = at + 2 * delayed
in_pieces('HSET', KEYS[4], at, at + 2 * tasks - 1)
at = at + 2 * tasks
for i = 1, rejected do
  redis.call('XADD', KEYS[6], '*', 'letter', ARGV[at], 'task', ARGV[at + 1])
  at = at + 2
end
save_policy(KEYS[8], at, sets, removals)
if tasks > 0 then
  redis.call('HINCRBY', KEYS[7], 'admitted', tasks)
end
if duplicates > 0 then
  redis.call('HINCRBY', KEYS[7], 'duplicate_admissions', duplicates)
end
if rejected > 0 then
  redis.call('HINCRBY', KEYS[7], 'rejected', rejected)
end
redis.call('XTRIM', KEYS[2], 'MINID', '=', ARGV[2])
return places
