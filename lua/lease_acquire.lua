-- lease_acquire.lua: grants the lease with the next epoch if nobody holds it; from then on the fence refuses older terms.
-- KEYS: 1 leader (string) 2 epoch (string) 3 fence (string)
-- ARGV: 1 owner 2 ttl in ms
-- Returns: 1 and the epoch, or 0, the holder's term (epoch, space, owner) and what is left of it in ms
-- Errors: none of its own
local holder = redis.call('GET', KEYS[1])
if holder then
  return { 0, holder, redis.call('PTTL', KEYS[1]) }
end
local epoch = redis.call('INCR', KEYS[2])
-- A counter that lost its last writes must not grant a term that the fence refuses for ever.
local fence = tonumber(redis.call('GET', KEYS[3]) or '0') or 0
if epoch <= fence then
  epoch = fence + 1
  redis.call('SET', KEYS[2], string.format('%.0f', epoch))
end
-- A leader that was cut off may still be writing: nothing of it may come after what its successor reads first.
redis.call('SET', KEYS[3], string.format('%.0f', epoch))
redis.call('SET', KEYS[1], string.format('%.0f', epoch) .. ' ' .. ARGV[1], 'PX', ARGV[2])
return { 1, epoch }
