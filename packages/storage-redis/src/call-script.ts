import { createHash } from 'node:crypto';

/**
 * The calls of the key-value store. Each call is done completely or not at all. A namespace has
 * three keys: a hash of the values, the keys in the order of their bytes, and the times at which
 * keys expire (milliseconds since the epoch).
 *
 * KEYS: values, names, expiries. ARGV: the call, the time (empty: that of the server), the key or
 * prefix, the lifetime in milliseconds (empty: for ever), the value or step, the expected value
 * (`+` and the text; empty: absent). Returns whether it was done, and a value or the keys.
 */
export const CALL_SCRIPT = `
local values, names, expiries = KEYS[1], KEYS[2], KEYS[3]
local call, key, lifetime = ARGV[1], ARGV[3], ARGV[4]
local now = tonumber(ARGV[2])
if now == nil then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function forget(name)
  redis.call('HDEL', values, name)
  redis.call('ZREM', names, name)
  redis.call('ZREM', expiries, name)
end

-- What is found expired goes, so that it stays absent when a clock is set back.
local function forgetIfExpired(name)
  local moment = redis.call('ZSCORE', expiries, name)
  if moment and tonumber(moment) <= now then forget(name) end
end

-- Where nothing is for ever, the server drops the whole namespace when its last key has expired.
local function expireWhole()
  if ARGV[2] ~= '' then return end
  local last = redis.call('ZREVRANGE', expiries, 0, 0, 'WITHSCORES')[2]
  local isForEver = last == nil or tonumber(last) > 4503599627370496
    or redis.call('ZCARD', expiries) < redis.call('ZCARD', names)
  for _, name in ipairs(KEYS) do
    if isForEver then redis.call('PERSIST', name)
    else redis.call('PEXPIREAT', name, string.format('%.0f', tonumber(last) + 1)) end
  end
end

local function write(value)
  redis.call('HSET', values, key, value)
  redis.call('ZADD', names, 0, key)
  if lifetime == '' then redis.call('ZREM', expiries, key)
  else redis.call('ZADD', expiries, string.format('%.0f', now + tonumber(lifetime)), key) end
  for _, name in ipairs(redis.call('ZRANGE', expiries, '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)) do
    forget(name)
  end
  expireWhole()
end

local function integerOf(text)
  if #text > 17 or not (text == '0' or string.match(text, '^%-?[1-9]%d*$')) then return nil end
  return tonumber(text)
end

local MAX = 9007199254740991

if call == 'list' then
  for _, name in ipairs(redis.call('ZRANGE', expiries, '-inf', now, 'BYSCORE')) do forget(name) end
  if key == '' then return {1, redis.call('ZRANGE', names, '-', '+', 'BYLEX')} end
  -- No text of UTF-8 has this byte.
  return {1, redis.call('ZRANGE', names, '[' .. key, '(' .. key .. '\\255', 'BYLEX')}
end
if call == 'delete' then
  forget(key)
  expireWhole()
  return {1, false}
end
if call == 'set' then
  write(ARGV[5])
  return {1, false}
end

forgetIfExpired(key)
local current = redis.call('HGET', values, key)
if call == 'get' then return {1, current} end
if call == 'increment' then
  local start = integerOf(current or '0')
  local sum = start and math.abs(start) <= MAX and start + tonumber(ARGV[5])
  if not sum or math.abs(sum) > MAX then return {0, current} end
  local text = string.format('%.0f', sum)
  write(text)
  return {1, text}
end
local expected = ARGV[6] ~= '' and string.sub(ARGV[6], 2)
if current ~= expected then return {0, false} end
write(ARGV[5])
return {1, false}
`;

export const CALL_SCRIPT_SHA = createHash('sha1').update(CALL_SCRIPT).digest('hex');
