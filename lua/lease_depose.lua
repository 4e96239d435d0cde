-- lease_depose.lua: ends exactly one term whose holder has no connection to this server any more, and wakes the standbys.
-- KEYS: 1 leader (string)
-- ARGV: 1 term (epoch, space, owner) 2 the holder's channel of presence 3 wake channel 4 epoch
-- Returns: 1 if it ended the term, 0 if the holder is connected or the term is over
-- Errors: none of its own
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if redis.call('PUBSUB', 'SHARDNUMSUB', ARGV[2])[2] > 0 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[3], 'released ' .. ARGV[4])
return 1
