-- dispatch.lua: moves the chosen members from pending to execution until the window is full, each whole or not at all.
-- KEYS: 1 fence (string) 2 pending (zset) 3 tasks (hash) 4 execution (stream) 5 counters (hash) 6 returned (list) 7 policy (hash)
-- ARGV: 1 epoch 2 now in µs 3 window, -1 unlimited 4 number chosen 5 policy fields set 6 policy fields removed; from 7: ids, members, scores, policy fields and values, policy fields removed
-- Returns: considered, places (from 0) of the missing, dispatched in total, freed in total, returned texts (score 0x1e member)
-- Errors: TQ_FENCED epoch fence
local refused = fenced(KEYS[1], ARGV[1])
if refused then
  return refused
end
-- A full store refuses here, before anything has moved: commands that free memory would still run and tear the move.
redis.call('HINCRBY', KEYS[5], 'dispatched', 0)
local chosen = tonumber(ARGV[4])
local totals = redis.call('HMGET', KEYS[5], 'dispatched', 'freed')
local dispatched, freed = tonumber(totals[1] or '0'), tonumber(totals[2] or '0')
local window = tonumber(ARGV[3])
local room = chosen
if window >= 0 then
  room = math.max(0, window - (dispatched - freed))
end

local considered, moved, missing = 0, 0, {}
while considered < chosen and moved < room do
  local most = math.min(chosen - considered, room - moved, CHUNK)
  local records = redis.call('HMGET', KEYS[3], unpack(ARGV, 7 + considered, 6 + considered + most))
  for i = 1, most do
    local place = considered + i
    local member = ARGV[6 + chosen + place]
    if redis.call('ZREM', KEYS[2], member) == 1 and records[i] then
      redis.call('XADD', KEYS[4], '*', 'm', member, 's', ARGV[6 + 2 * chosen + place], 'r', records[i],
        'd', ARGV[2], 'e', ARGV[1])
      moved = moved + 1
    else
      missing[#missing + 1] = place - 1
    end
  end
  considered = considered + most
end
if moved > 0 then
  dispatched = redis.call('HINCRBY', KEYS[5], 'dispatched', moved)
end
save_policy(KEYS[7], 7 + 3 * chosen, tonumber(ARGV[5]), tonumber(ARGV[6]))
local returned = redis.call('LRANGE', KEYS[6], 0, -1)
if #returned > 0 then
  redis.call('DEL', KEYS[6])
end
return { considered, missing, dispatched, freed, returned }
