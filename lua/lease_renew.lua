-- lease_renew.lua: extends exactly one term.
-- KEYS: 1 leader (string)
-- ARGV: 1 term (epoch, space, owner) 2 ttl in ms
-- Returns: 1 if it holds the lease, else 0
-- Errors: none of its own
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
