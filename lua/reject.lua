-- reject.lua: dead-letters a delivery that cannot be read, once.
-- KEYS: 1 execution, or ingress in the control arm (stream) 2 tasks (hash) 3 dead (stream) 4 counters (hash) 5 done, current bucket (set)
-- ARGV: 1 wake channel 2 group 3 "execution" or "ingress" 4 entry 5 id, or empty 6 letter 7 raw 8 life of the done bucket in ms, 0 for ever
-- Returns: 1 if it was live, else 0
-- Errors: none of its own
-- A full store refuses here, before anything has moved: commands that free memory would still run and tear the move.
redis.call('HINCRBY', KEYS[4], 'dead', 0)
if redis.call('XACK', KEYS[1], ARGV[2], ARGV[4]) == 0 then
  return 0
end
redis.call('XADD', KEYS[3], '*', 'letter', ARGV[6], 'task', ARGV[7])
if ARGV[3] == 'execution' then
  if ARGV[5] ~= '' and redis.call('HDEL', KEYS[2], ARGV[5]) == 1 then
    redis.call('SADD', KEYS[5], ARGV[5])
    if ARGV[8] ~= '0' then
      redis.call('PEXPIRE', KEYS[5], ARGV[8])
    end
  end
  redis.call('HINCRBY', KEYS[4], 'dead', 1)
  redis.call('PUBLISH', ARGV[1], 'freed ' .. redis.call('HINCRBY', KEYS[4], 'freed', 1))
else
  redis.call('HINCRBY', KEYS[4], 'rejected', 1)
end
return 1
