-- snapshot.lua: counts what is where at one moment; writes nothing.
-- KEYS: 1 leader (string) 2 epoch (string) 3 fence (string) 4 ingress (stream) 5 pending (zset) 6 delayed (zset) 7 tasks (hash) 8 execution (stream) 9 returned (list) 10 dead (stream) 11 counters (hash) 12 service (hash) 13 workers (hash)
-- ARGV: 1 group
-- Returns: the leader's term or an empty string, lease left in ms, epoch, fence, then the sizes of ingress, pending, delayed, tasks, execution, returned, dead, how many execution entries are delivered and not acknowledged, how many are not delivered, then counters, service and workers
-- Errors: none of its own
local delivered, waiting = 0, 0
local pending = redis.pcall('XPENDING', KEYS[8], ARGV[1])
local length = redis.call('XLEN', KEYS[8])
if pending.err then
  waiting = length
else
  delivered = pending[1]
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[8])) do
    if group[2] == ARGV[1] then
      -- The last id is the eighth value; the lag that Redis reports is void after a deletion, so it is counted.
      waiting = #redis.call('XRANGE', KEYS[8], '(' .. group[8], '+', 'COUNT', 100000)
    end
  end
end
return {
  redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1]),
  redis.call('GET', KEYS[2]) or '0', redis.call('GET', KEYS[3]) or '0',
  redis.call('XLEN', KEYS[4]), redis.call('ZCARD', KEYS[5]), redis.call('ZCARD', KEYS[6]), redis.call('HLEN', KEYS[7]),
  length, redis.call('LLEN', KEYS[9]), redis.call('XLEN', KEYS[10]), delivered, waiting,
  redis.call('HGETALL', KEYS[11]), redis.call('HGETALL', KEYS[12]), redis.call('HVALS', KEYS[13]),
}
