-- lease_release.lua: ends exactly one term and wakes the standbys.
-- KEYS: 1 leader (string)
-- ARGV: 1 term (epoch, space, owner) 2 wake channel 3 epoch
-- Returns: 1 if it held the lease, else 0
-- Errors: none of its own
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], 'released ' .. ARGV[3])
return 1
