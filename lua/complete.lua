-- complete.lua: records each completion once per task id, frees the slots, accounts the tenants, acknowledges and trims.
-- KEYS: 1 execution, or ingress in the control arm (stream) 2 tasks (hash) 3 results (stream) 4 counters (hash) 5 service (hash) 6 done, current bucket (set)
-- ARGV: 1 wake channel 2 group 3 "execution" or "ingress" 4 life of the done bucket in ms, 0 for ever 5 number of completions 6 how many of them missed their deadline 7 number of service increments; from 8: entries, ids, ("result", JSON) pairs, (service field, increment) pairs
-- Returns: places (from 0) of those that were recorded before or are no longer known
-- Errors: none of its own
-- A full store refuses here, before anything has moved: commands that free memory would still run and tear the move.
redis.call('HINCRBY', KEYS[4], 'completed', 0)
local n, missed, increments = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local scheduled = ARGV[3] == 'execution'
local ids, results = 7 + n, 7 + 2 * n

local recorded, duplicates = {}, {}
for i = 1, n do
  local first
  if scheduled then
    first = redis.call('HDEL', KEYS[2], ARGV[ids + i])
  else
    first = redis.call('SADD', KEYS[6], ARGV[ids + i])
  end
  if first == 1 then
    recorded[#recorded + 1] = i
  else
    duplicates[#duplicates + 1] = i - 1
  end
end

if #duplicates == 0 then
  if scheduled then
    in_pieces('SADD', KEYS[6], ids + 1, ids + n)
  end
  for at = results + 1, results + 2 * n, CHUNK do
    redis.call('XADD', KEYS[3], '*', unpack(ARGV, at, math.min(at + CHUNK - 1, results + 2 * n)))
  end
  for at = results + 2 * n + 1, results + 2 * n + 2 * increments, 2 do
    redis.call('HINCRBY', KEYS[5], ARGV[at], ARGV[at + 1])
  end
else
  -- The rare path: some were recorded before, so the sums of the batch do not hold.
  missed = 0
  for _, i in ipairs(recorded) do
    local json = ARGV[results + 2 * i]
    local result = cjson.decode(json)
    redis.call('SADD', KEYS[6], ARGV[ids + i])
    redis.call('XADD', KEYS[3], '*', 'result', json)
    redis.call('HINCRBY', KEYS[5], 'c:' .. result.tenant, 1)
    redis.call('HINCRBY', KEYS[5], 's:' .. result.tenant, string.format('%.0f', result.measured_service_us))
    if result.deadline_us and result.finished_us > result.deadline_us then
      missed = missed + 1
      redis.call('HINCRBY', KEYS[5], 'm:' .. result.tenant, 1)
    end
  end
  redis.call('HINCRBY', KEYS[4], 'duplicate_completions', #duplicates)
end
if #recorded > 0 then
  redis.call('HINCRBY', KEYS[4], 'completed', #recorded)
  if ARGV[4] ~= '0' then
    redis.call('PEXPIRE', KEYS[6], ARGV[4])
  end
end
if missed > 0 then
  redis.call('HINCRBY', KEYS[4], 'deadline_missed', missed)
end

local acknowledged, entries = 0, {}
for at = 8, 7 + n, CHUNK do
  acknowledged = acknowledged + redis.call('XACK', KEYS[1], ARGV[2], unpack(ARGV, at, math.min(at + CHUNK - 1, 7 + n)))
end
for i = 1, n do
  entries[i] = ARGV[7 + i]
end
if scheduled then
  local freed = redis.call('HINCRBY', KEYS[4], 'freed', acknowledged)
  local live = (redis.call('HGET', KEYS[4], 'dispatched') or 0) - freed
  trim(KEYS[1], ARGV[2], live, entries)
  redis.call('PUBLISH', ARGV[1], 'freed ' .. freed)
else
  -- Nobody counts what lies in ingress and was not delivered, so nothing is deleted singly there.
  trim(KEYS[1], ARGV[2], math.huge, entries)
end
return duplicates
