--[[
Overview.

Limits of groups over a fleet of instances. Everything is decided here, in one atomic call; instances only send what has
gathered since their last call. KEYS, all in one hash slot:

   1 used   hash   group -> permits held in the whole fleet; `*` -> their sum
   2 held   hash   instance|group -> "permits since tickets size": held permits, ms since when, tickets in `wait`, and
                   how many permits each of them needs, which is left out if it is 1
   3 own    zset   instance NUL group, all scores 0: the fields of `held` by instance
   4 exp    zset   instance -> end of its lease, ms
   5 conf   hash   l:group -> limit, r:group -> rate, `?` default limit, `?r` default rate, `*` cap, t -> longest
                   lease of any instance, ms
   6 wait   zset   group NUL ticket NUL instance, all scores 0: the lexical order is the FIFO order of each group
   7 ready  zset   group -> turn: groups with tickets that wait for the cap only, round robin
   8 rate   hash   group -> "debt time": the bucket of the group as of that time, us
   9 due    zset   d:group -> us when the rate allows the first ticket; f:group -> us when the bucket is full;
                   s:instance -> us when it will be silent, if it has offers
  10 meta   hash   counters, see `begin`, and for each instance c: number of its last call, a: the answer to that,
                   h: ms when it will be silent, o: its offers, w: where its return from silence goes on,
                   i: "channel-command since name"

A group is text without NUL, blank, line feed, `|`, `*` and `?`, because the client escapes it.

Invariants after every call:

  (1) the sum of `held` and of the offers of a group is used[group] <= its limit, except after the limit was lowered
      or permits were reasserted; the sum of `used` is used[*] <= cap, likewise
  (2) no ticket waits while its group, its rate and the cap have room for all that it needs, except during a
      quarantine, behind another ticket, or if its instance may be offered nothing. One that was behind a ticket of an
      instance which is silent now is served when its group is looked at next
  (3) tickets of a group are served whole and in the order of their numbers, so one that lacks permits reserves what
      is free; those of dead instances are dropped, those of instances that may be offered nothing are passed over
  (4) a permit is held from the call in which its instance receives it until that returns it, or is buried after its
      lease; what an instance holds does not grow without a call of its own
  (5) nothing remains of a group without permits and tickets but its limits, and its bucket until that is full

Only an answer grants. A ticket that another instance's call serves becomes an offer: its permits count as used, and the
instance is asked by a message to call. Its next call, for whatever reason, receives all its offers; so a lost message
costs a heartbeat and no permit. Nobody uses an offered permit, so it can be taken back at any time. An instance is
silent if it has not called for a third of its lease. It is offered nothing, and its offers are taken back: the
tickets return to their places, where others pass them until it calls. And before it calls, an instance may have offers
of a group up to its equal share of the limit, or one. So what a killed or stopped instance keeps from the others is
what it held, and for a third of its lease its share.

Time is that of the server, and never goes back: if the server's clock is set back, time goes on from the latest one, and
`ahead` in `meta` is what it has been ahead of the clock since, in us. So a lease lasts as long as it says, and no longer
by more than the time since the call before. After a silence of a third of the longest lease the server may have
been stopped, so no instance is buried for a whole lease from then (`base`): each has the time to renew. A new or
emptied namespace, or a server with another run id than before, gets a new incarnation, and grants nothing for the
longest lease (`quar`): what the server has forgotten has ended by then or was reasserted.

A single key may be deleted or evicted, and an empty one does not exist. So each call notes in `keys` which ones it has
left, beside the time of `last`: a call of a version of this script that notes nothing has left another time, and then
nothing is known. If one of them is missing at the next call, nothing was decided without it. That call removes the
others except `conf`, and the namespace goes on as an emptied one, but its counters do not begin anew; `why` has the
names of the missing keys, for all instances.

A call that may have been lost is sent again with its number. It is executed once: the number is stored even if the
call fails in the midst of its operations, so it is not executed again either; its instance is lost then. Each of the
two may be the one whose answer the instance does not read, and a call that was replaced may even arrive after the next
one. So an answer that repeats contains what was stored and nothing else, and what the instance is granted then is
offered, as if another instance had called. All data is checked before the step that changes it, so a step is
never half done because of foreign data, and what was done before stays.

A command of the server costs more than a step here. So `begin` reads what the operations need with one command for
each key, which also shows a key of another type. `used`, `held` and `own` are changed in memory, and `flush` writes
them back: at the end of a call, also of one that has failed, and before their keys are read otherwise. `wait`,
`ready`, `due` and `rate` are changed at once. `isWaiting`, `isReady` and `isDue` are false if the key has no elements.
]]
local HIGHEST = 1000000000
local WINDOW = 1024
local CHUNK = 2000
local READ = 8
local MOST_OFFERS = 65536 -- characters
local MOST_GROUPS = 500
local MOST_DUE = 20
local MOST_DEAD = 4

local function fmt(n)
  if n == 0 then
    return '0'
  elseif n == 1 then
    return '1'
  end
  return string.format('%.0f', n)
end

local function int(value, what)
  local n = tonumber(value)
  if not n or n ~= math.floor(n) or n < 0 or n > 9007199254740991 then
    error('RADDLE ' .. what .. ' is not a number: ' .. string.sub(tostring(value), 1, 40))
  end
  return n
end

local TYPES = {'hash', 'hash', 'zset', 'zset', 'hash', 'zset', 'zset', 'hash', 'zset', 'hash'}

local function checkTypes(keys)
  for i = 1, 10 do
    local kind = redis.call('TYPE', keys[i])['ok']
    if kind ~= 'none' and kind ~= TYPES[i] then
      error('RADDLE ' .. keys[i] .. ' is a ' .. kind .. ', not a ' .. TYPES[i])
    end
  end
end

local function open(keys, me)
  return {keys = keys, me = me, used = keys[1], held = keys[2], own = keys[3], exp = keys[4], conf = keys[5], wait = keys[6], ready = keys[7],
    rate = keys[8], due = keys[9], meta = keys[10], touched = {}, order = {}, results = {}, notices = {}, limits = {},
    rates = {}, counts = {}, written = {}, records = {}, values = {}, changed = {}, settings = {}, leases = {},
    queues = {}, states = {}, claimed = {}}
end

-- Calls a command with a list of arguments, so many at once as the stack can take.
local function callAll(command, key, list)
  for i = 1, #list, CHUNK do
    redis.call(command, key, unpack(list, i, math.min(#list, i + CHUNK - 1)))
  end
end

-- Reads fields of a hash into a table; false for those that do not exist.
local function readAll(key, fields, into)
  for i = 1, #fields, CHUNK do
    local last = math.min(#fields, i + CHUNK - 1)
    local values = redis.call('HMGET', key, unpack(fields, i, last))
    for j = i, last do
      into[fields[j]] = values[j - i + 1]
    end
  end
end

-- Reads something of most keys. Of `own`, which is written first, and of `rate`, which is read before each change, only
-- the first call of a connection checks the type.
local function read(c, groups)
  local held, used, conf = {''}, {'*'}, {'t', '?', '?r', '*'}
  for _, g in ipairs(groups) do
    if c.me then
      held[#held + 1] = c.me .. '|' .. g
    end
    used[#used + 1] = g
    conf[#conf + 1] = 'l:' .. g
    conf[#conf + 1] = 'r:' .. g
  end
  readAll(c.held, held, c.values)
  readAll(c.used, used, c.written)
  readAll(c.conf, conf, c.settings)
  if c.me then
    c.leases[c.me] = redis.call('ZSCORE', c.exp, c.me)
  end
  c.isWaiting = redis.call('ZCARD', c.wait) > 0
  c.isReady = redis.call('ZCARD', c.ready) > 0
  c.isDue = redis.call('ZCARD', c.due) > 0
  return redis.call('HMGET', c.meta, 'inc', 'quar', 'last', 'base', 'seq', 'fence', 'turn', 'version', 'pending',
    'run', 'ahead', 'w:' .. (c.me or ''), 'h:' .. (c.me or ''), 'o:' .. (c.me or ''), 'c:' .. (c.me or ''),
    'i:' .. (c.me or ''), 'keys', 'why')
end

-- What is known of an instance besides its lease. `offers` are in the order of the grants.
local function newState(heard, offers, number, link)
  local s = {heard = int(heard or 0, 'meta h'), text = offers or '', number = number or '0', link = link or '',
    offers = {}, of = {}}
  for g, ticket, k in string.gmatch(s.text, '([^ \n]+) (%d+) (%d+)\n') do
    s.offers[#s.offers + 1] = {g = g, ticket = ticket, k = tonumber(k)}
    s.of[g] = (s.of[g] or 0) + tonumber(k)
  end
  return s
end

local function peer(c, inst)
  local s = c.states[inst]
  if not s then
    s = newState(unpack(redis.call('HMGET', c.meta, 'h:' .. inst, 'o:' .. inst, 'c:' .. inst, 'i:' .. inst), 1, 4))
    c.states[inst] = s
  end
  return s
end

local function exists(c, i)
  return redis.call('TYPE', c.keys[i])['ok'] ~= 'none'
end

-- Which keys have elements at the end of a call, '1' or '0' for each in their order. `own` has as many as `held`.
local function present(c)
  local isHeld = exists(c, 2)
  local all = {c.written['*'], isHeld, isHeld, c.isRenewed and not c.leave or exists(c, 4), true,
    c.isWaiting and exists(c, 6), c.isReady and exists(c, 7), c.isDue and exists(c, 8), c.isDue and exists(c, 9)}
  local text = {}
  for i = 1, 9 do
    text[i] = all[i] and '1' or '0'
  end
  return table.concat(text)
end

-- Returns nil if each key is there that had elements after the last call, otherwise the names of those that are not; an
-- empty text if the namespace is new or nothing of it is left.
local function missing(c, m)
  if not m[1] then
    return c.settings['t'] and c.keys[10] or ''
  end
  local time, text = string.match(m[17] or '', '^(%d+) (%d+)$')
  if time ~= m[3] then
    return nil
  end
  local isSeen = {c.written['*'], false, false, c.leases[c.me], c.settings['t'], c.isWaiting, c.isReady, false, c.isDue}
  local names = {}
  for i = 1, 9 do
    if string.sub(text, i, i) == '1' and not (isSeen[i] or exists(c, i)) then
      names[#names + 1] = c.keys[i]
    end
  end
  return #names > 0 and table.concat(names, ', ') or nil
end

local function renewIncarnation(c, why)
  c.why = why
  c.inc = math.max(c.us, c.inc + 1)
  c.quar = math.max(c.quar, c.ms + c.longest)
  c.base = c.ms
  c.pending = 1
end

-- Reads the clock, the counters and the groups. `ttl` is the longest lease that the caller knows of, ms.
local function begin(keys, ttl, me, groups, isFirst)
  if isFirst then
    checkTypes(keys)
  end
  local c = open(keys, me)
  local isRead, m = pcall(read, c, groups)
  if not isRead then
    checkTypes(keys)
    error(m, 0)
  end
  local why = missing(c, m)
  if why then
    redis.call('DEL', c.used, c.held, c.own, c.exp, c.wait, c.ready, c.rate, c.due, c.meta)
    c = open(keys, me)
    read(c, groups)
    m[12], m[13], m[14], m[15], m[16] = false, false, false, false, false
  end
  c.inc = int(m[1] or 0, 'meta inc')
  c.quar = int(m[2] or 0, 'meta quar')
  local last = int(m[3] or 0, 'meta last')
  c.base = int(m[4] or 0, 'meta base')
  c.seq = int(m[5] or 0, 'meta seq')
  c.fence = int(m[6] or 0, 'meta fence')
  c.turn = int(m[7] or 0, 'meta turn')
  c.version = int(m[8] or 0, 'meta version')
  c.pending = int(m[9] or 0, 'meta pending')
  c.run, c.why = m[10], m[18] or ''
  local ahead = int(m[11] or 0, 'meta ahead')
  c.cursor = m[12]
  if me then
    c.states[me] = newState(m[13], m[14], m[15], m[16])
    c.before = int(c.states[me].number, 'number of the last call')
  end
  local time = redis.call('TIME')
  c.ahead = math.max(ahead, last - (time[1] * 1000000 + time[2]))
  c.us = time[1] * 1000000 + time[2] + c.ahead
  c.ms = math.floor(c.us / 1000)
  c.longest = int(c.settings['t'] or 0, 'conf t')
  if ttl > c.longest then
    c.longest = ttl
    redis.call('HSET', c.conf, 't', fmt(ttl))
  end
  c.saved = {inc = c.inc, quar = c.quar, base = c.base, seq = c.seq, fence = c.fence, turn = c.turn,
    version = c.version, pending = c.pending, run = c.run, ahead = ahead, why = c.why}
  if c.us - last > c.longest * 1000 / 3 then
    c.base = c.ms
  end
  if why then
    for field in pairs(c.saved) do
      c.saved[field] = ''
    end
    renewIncarnation(c, why)
  end
  return c
end

-- A replica that was promoted, or a restarted server, may lack the last changes.
local function checkRun(c)
  local info = redis.pcall('INFO', 'server')
  local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)')
  if run and c.run and run ~= c.run then
    renewIncarnation(c, '')
  end
  c.run = run or c.run
end

-- Which keys the server evicts when its memory is full, if it says that.
local function policy()
  local info = redis.pcall('INFO', 'memory')
  return type(info) == 'string' and string.match(info, 'maxmemory_policy:([%w-]+)') or ''
end

local function setting(c, field)
  local v = c.settings[field]
  if v == nil then
    v = redis.call('HGET', c.conf, field)
    c.settings[field] = v
  end
  return v
end

local function forgetSettings(c)
  c.settings, c.limits, c.rates, c.cap = {}, {}, {}, nil
end

local function limit(c, g)
  local l = c.limits[g]
  if not l then
    l = int(setting(c, 'l:' .. g) or setting(c, '?') or HIGHEST, 'limit of ' .. g)
    if l < 1 then
      error('RADDLE limit of ' .. g .. ' must be at least 1')
    end
    c.limits[g] = l
  end
  return l
end

local function cap(c)
  if not c.cap then
    c.cap = int(setting(c, '*') or HIGHEST, 'cap')
  end
  return c.cap
end

local function hasCap(c)
  return cap(c) < HIGHEST
end

local function used(c, g)
  local n = c.counts[g]
  if not n then
    local v = c.written[g]
    if v == nil then
      v = redis.call('HGET', c.used, g)
      c.written[g] = v
    end
    n = int(v or 0, 'used ' .. g)
    c.counts[g] = n
  end
  return n
end

-- Adds to the permits of a group and to their sum; both were checked.
local function addUsed(c, g, ofGroup, ofAll, n)
  c.counts[g] = math.max(0, ofGroup + n)
  c.counts['*'] = math.max(0, ofAll + n)
end

-- What an instance has of a group. A change must be stored.
local function record(c, inst, g)
  local field = inst .. '|' .. g
  local r = c.records[field]
  if r then
    return r
  end
  local v = c.values[field]
  if v == nil then
    v = redis.call('HGET', c.held, field)
    c.values[field] = v
  end
  if v then
    local n, since, t, size = string.match(v, '^(%d+) (%d+) (%d+) ?(%d*)$')
    if not n then
      error('RADDLE held ' .. field .. ' is not a record: ' .. string.sub(v, 1, 40))
    end
    r = {n = int(n, 'held'), since = int(since, 'held'), t = int(t, 'held'),
      size = tonumber(size) or 1}
  else
    r = {n = 0, since = c.ms, t = 0, size = 1}
  end
  c.records[field] = r
  return r
end

local function store(c, inst, g, r)
  local field = inst .. '|' .. g
  c.records[field] = r
  c.changed[field] = inst .. '\0' .. g
end

local function flushUsed(c)
  local set, removed = {}, {}
  for g, n in pairs(c.counts) do
    local v = n > 0 and fmt(n)
    if v ~= c.written[g] then
      c.written[g] = v
      if v then
        set[#set + 1] = g
        set[#set + 1] = v
      else
        removed[#removed + 1] = g
      end
    end
  end
  callAll('HSET', c.used, set)
  callAll('HDEL', c.used, removed)
end

local function flushHeld(c)
  local set, removed, added, gone = {}, {}, {}, {}
  for field, member in pairs(c.changed) do
    local r = c.records[field]
    local v = (r.n > 0 or r.t > 0) and fmt(r.n) .. ' ' .. fmt(r.since) .. ' ' .. fmt(r.t)
      .. (r.size > 1 and ' ' .. fmt(r.size) or '')
    local old = c.values[field]
    c.values[field] = v
    if v and v ~= old then
      set[#set + 1] = field
      set[#set + 1] = v
    end
    if v and not old then
      added[#added + 1] = 0
      added[#added + 1] = member
    elseif old and not v then
      removed[#removed + 1] = field
      gone[#gone + 1] = member
    end
  end
  c.changed = {}
  callAll('ZADD', c.own, added)
  callAll('ZREM', c.own, gone)
  callAll('HSET', c.held, set)
  callAll('HDEL', c.held, removed)
end

local function flush(c)
  flushHeld(c)
  flushUsed(c)
end

-- Rates. A task costs `cost` units of its group's bucket, `drain` units flow out per us, at most burst * cost fit in.

local function rateOf(c, g)
  local r = c.rates[g]
  if r == nil then
    local v = setting(c, 'r:' .. g) or setting(c, '?r')
    r = false
    if v then
      local cost, drain, burst = string.match(v, '^(%d+) (%d+) (%d+) ')
      if not cost then
        error('RADDLE rate of ' .. g .. ' is not a rate: ' .. string.sub(v, 1, 40))
      end
      r = {cost = int(cost, 'rate'), drain = int(drain, 'rate'), burst = int(burst, 'rate')}
    end
    c.rates[g] = r
  end
  return r
end

local function debt(c, g, rate)
  local v = redis.call('HGET', c.rate, g)
  if not v then
    return 0
  end
  local d, t = string.match(v, '^(%d+) (%d+)$')
  if not d then
    error('RADDLE bucket of ' .. g .. ' is not a bucket: ' .. string.sub(v, 1, 40))
  end
  return math.max(0, int(d, 'bucket') - math.max(0, c.us - int(t, 'bucket')) * rate.drain)
end

local function setDebt(c, g, rate, d)
  if d <= 0 then
    redis.call('HDEL', c.rate, g)
    redis.call('ZREM', c.due, 'f:' .. g)
  else
    redis.call('HSET', c.rate, g, fmt(d) .. ' ' .. fmt(c.us))
    redis.call('ZADD', c.due, fmt(c.us + math.ceil(d / rate.drain)), 'f:' .. g)
    c.isDue = true
  end
end

-- How many tickets of k permits the rate of the group allows now, and the us until it allows one. One that needs more
-- than the burst needs a bucket without debt.
local function allowance(c, g, k)
  local rate = rateOf(c, g)
  if not rate then
    return HIGHEST, 0
  end
  local room = rate.burst * rate.cost - debt(c, g, rate)
  local needed = math.min(k, rate.burst) * rate.cost
  if room >= needed then
    return math.max(1, math.floor(room / (k * rate.cost))), 0
  end
  return 0, math.ceil((needed - room) / rate.drain)
end

-- Instances.

local function isAlive(c, inst)
  local score = c.leases[inst]
  if score == nil then
    score = redis.call('ZSCORE', c.exp, inst)
    c.leases[inst] = score
  end
  local lease = tonumber(score or nil)
  return lease ~= nil and lease >= 0 and (lease > c.ms or c.ms < c.base + c.longest)
end

local function touch(c, g)
  if not c.touched[g] then
    c.touched[g] = true
    c.order[#c.order + 1] = g
  end
end

local function refund(c, g, k)
  local rate = rateOf(c, g)
  if rate then
    setDebt(c, g, rate, debt(c, g, rate) - k * rate.cost)
  end
end

-- Takes back what an instance was offered. The tickets of a living one return to their places.
local function takeBack(c, inst, isDead)
  local s = peer(c, inst)
  for _, offer in ipairs(s.offers) do
    local g = offer.g
    local r = record(c, inst, g)
    addUsed(c, g, used(c, g), used(c, '*'), -offer.k)
    refund(c, g, offer.k)
    if not isDead then
      redis.call('ZADD', c.wait, 0, g .. '\0' .. offer.ticket .. '\0' .. inst)
      c.isWaiting = true
      c.queues[g] = nil
      r.t = r.t + 1
      store(c, inst, g, r)
    end
    touch(c, g)
  end
  if #s.offers > 0 then
    redis.call('ZREM', c.due, 's:' .. inst)
  end
  s.offers, s.of, s.isChanged = {}, {}, true
end

-- Frees what a dead instance holds, a bounded number of groups in each call.
local function bury(c, inst)
  takeBack(c, inst, true)
  flush(c)
  local mine = redis.call('ZRANGEBYLEX', c.own, '[' .. inst .. '\0', '(' .. inst .. '\1', 'LIMIT', 0, MOST_GROUPS)
  for _, member in ipairs(mine) do
    local g = string.sub(member, #inst + 2)
    local r = record(c, inst, g)
    local ofGroup, ofAll = used(c, g), used(c, '*')
    store(c, inst, g, {n = 0, t = 0, size = 1})
    addUsed(c, g, ofGroup, ofAll, -r.n)
    touch(c, g)
  end
  if #mine < MOST_GROUPS then
    redis.call('ZREM', c.exp, inst)
    redis.call('HDEL', c.meta, 'c:' .. inst, 'a:' .. inst, 'i:' .. inst, 'h:' .. inst, 'o:' .. inst, 'w:' .. inst)
    c.states[inst] = nil
  else
    redis.call('ZADD', c.exp, -1, inst)
    c.isUnfinished = true
  end
  c.leases[inst] = nil
end

local function buryDead(c)
  local dead = redis.call('ZRANGEBYSCORE', c.exp, '-inf', fmt(c.ms), 'LIMIT', 0, MOST_DEAD)
  local buried = 0
  for _, inst in ipairs(dead) do
    if not isAlive(c, inst) then
      bury(c, inst)
      buried = buried + 1
    end
  end
  c.isUnfinished = c.isUnfinished or buried == MOST_DEAD
end

-- Grants.

-- How many permits each ticket of an instance needs.
local function sizeOf(c, inst, g)
  return math.max(1, math.min(record(c, inst, g).size, limit(c, g), cap(c)))
end

-- Returns whether an instance may be granted k permits, or must call before.
local function isOpen(c, inst, g, k)
  if inst == c.me and not c.isRepeated then
    return true
  end
  local s = peer(c, inst)
  if s.heard <= c.ms or #s.text > MOST_OFFERS then
    return false
  end
  local offered = s.of[g] or 0
  if offered == 0 then
    return true
  end
  c.instances = c.instances or redis.call('ZCARD', c.exp)
  return offered + k <= math.min(limit(c, g), cap(c)) / c.instances
end

-- Counts k permits of a group as used.
local function use(c, g, k)
  local ofGroup, ofAll = used(c, g), used(c, '*')
  local rate = rateOf(c, g)
  local d = rate and debt(c, g, rate)
  addUsed(c, g, ofGroup, ofAll, k)
  if rate then
    setDebt(c, g, rate, d + k * rate.cost)
  end
end

-- Lets the caller hold k permits that count as used.
local function hold(c, g, k)
  local r = record(c, c.me, g)
  if r.n == 0 then
    r.since = c.ms
  end
  r.n = r.n + k
  store(c, c.me, g, r)
  c.fence = math.max(c.fence + 1, c.us) + k - 1
  c.asked[g] = true
  c.results[#c.results + 1] = 'g ' .. g .. ' ' .. fmt(k) .. ' ' .. fmt(c.fence) .. (rateOf(c, g) and ' 1' or ' 0')
end

-- Lets the caller hold what it was offered.
local function claim(c)
  local s = peer(c, c.me)
  if #s.offers == 0 then
    return
  end
  for _, offer in ipairs(s.offers) do
    local g = offer.g
    if not c.claimed[g] then
      c.claimed[g] = s.of[g]
      hold(c, g, s.of[g])
      touch(c, g)
    end
  end
  redis.call('ZREM', c.due, 's:' .. c.me)
  s.offers, s.of, s.isChanged = {}, {}, true
end

local function offer(c, inst, g, number, k)
  local s = peer(c, inst)
  if #s.offers == 0 then
    redis.call('ZADD', c.due, fmt(s.heard * 1000), 's:' .. inst)
    c.isDue = true
    c.notices[inst] = s
  end
  s.offers[#s.offers + 1] = {g = g, ticket = number, k = k}
  s.of[g] = (s.of[g] or 0) + k
  s.isChanged = true
end

local function range(g)
  return '[' .. g .. '\0', '(' .. g .. '\1'
end

-- Reads the next tickets of a group, when all that were read before are gone.
local function queue(c, g)
  local q = c.queues[g]
  if q and (q.first <= #q or q.isAll) then
    return q
  end
  local from, to = range(g)
  if q and q.last then
    from = '(' .. q.last
  end
  local most = q and q.most * 4 or READ
  local found = c.isWaiting and redis.call('ZRANGEBYLEX', c.wait, from, to, 'LIMIT', 0, most) or {}
  found.last = found[#found] or q and q.last
  found.most = math.min(most, CHUNK)
  found.isAll = #found < most
  found.first = 1
  c.queues[g] = found
  return found
end

-- The first ticket of an instance that may be granted what it needs, that instance, and the number of permits. Drops
-- those of dead instances before it, and passes the others.
local function head(c, g)
  while true do
    local q = queue(c, g)
    local ticket = q[q.first]
    if not ticket then
      return nil
    end
    local inst = string.match(ticket, '^[^%z]*%z%d+%z(.+)$')
    if not (inst and isAlive(c, inst)) then
      redis.call('ZREM', c.wait, ticket)
    else
      local k = sizeOf(c, inst, g)
      if isOpen(c, inst, g, k) then
        return ticket, inst, k
      end
    end
    q.first = q.first + 1
  end
end

local function serveTicket(c, g, ticket, inst, k)
  redis.call('ZREM', c.wait, ticket)
  local q = c.queues[g]
  q.first = q.first + 1
  local r = record(c, inst, g)
  r.t = math.max(0, r.t - 1)
  store(c, inst, g, r)
  use(c, g, k)
  if inst == c.me and not c.isRepeated then
    hold(c, g, k)
  else
    offer(c, inst, g, string.match(ticket, '%z(%d+)%z'), k)
  end
end

-- Returns the first ticket if the group and its rate have room for all that it needs.
local function admissible(c, g)
  local ticket, inst, k = head(c, g)
  if not ticket then
    if c.isDue then
      redis.call('ZREM', c.due, 'd:' .. g)
    end
    if c.isReady then
      redis.call('ZREM', c.ready, g)
    end
    return nil
  end
  if c.ms < c.quar or used(c, g) + k > limit(c, g) then
    return nil
  end
  local _, pause = allowance(c, g, k)
  if pause > 0 then
    redis.call('ZADD', c.due, fmt(c.us + pause), 'd:' .. g)
    c.isDue = true
    return nil
  end
  return ticket, inst, k
end

-- Grants to the tickets of a group what it has room for. Under a cap it only takes the group's turn.
local function serve(c, g)
  while true do
    local ticket, inst, k = admissible(c, g)
    if not ticket then
      return
    end
    if hasCap(c) then
      if not (c.isReady and redis.call('ZSCORE', c.ready, g)) then
        c.turn = c.turn + 1
        redis.call('ZADD', c.ready, fmt(c.turn), g)
        c.isReady = true
      end
      return
    end
    serveTicket(c, g, ticket, inst, k)
  end
end

-- Grants under the cap, to one ticket of each ready group in turn. One that lacks permits keeps the turn.
local function serveReady(c)
  while c.isReady and used(c, '*') < cap(c) do
    local g = redis.call('ZRANGE', c.ready, 0, 0)[1]
    if not g then
      return
    end
    local ticket, inst, k = admissible(c, g)
    if ticket and used(c, '*') + k > cap(c) then
      return
    end
    redis.call('ZREM', c.ready, g)
    if ticket then
      serveTicket(c, g, ticket, inst, k)
      serve(c, g)
    end
  end
end

-- Serves each group with tickets: after a quarantine, or after the default limit or the cap was changed.
local function touchWaiting(c)
  local from = '-'
  while true do
    local ticket = redis.call('ZRANGEBYLEX', c.wait, from, '+', 'LIMIT', 0, 1)[1]
    if not ticket then
      return
    end
    local g = string.match(ticket, '^([^%z]*)%z') or ''
    touch(c, g)
    from = '[' .. g .. '\1'
    if from == '[\1' then
      redis.call('ZREM', c.wait, ticket)
    end
  end
end

-- Serves the groups of the caller, whose tickets were passed while it was silent, a bounded number in each call.
local function resume(c)
  flush(c)
  local from = '(' .. c.me .. '\0' .. c.cursor
  local mine = redis.call('ZRANGEBYLEX', c.own, from, '(' .. c.me .. '\1', 'LIMIT', 0, MOST_GROUPS)
  for _, member in ipairs(mine) do
    touch(c, string.sub(member, #c.me + 2))
  end
  if #mine < MOST_GROUPS then
    redis.call('HDEL', c.meta, 'w:' .. c.me)
  else
    redis.call('HSET', c.meta, 'w:' .. c.me, string.sub(mine[#mine], #c.me + 2))
    c.isUnfinished = true
  end
end

-- Takes the offers of an instance back if it is silent by now.
local function checkSilence(c, inst)
  local s = peer(c, inst)
  if s.heard <= c.ms then
    takeBack(c, inst, false)
  elseif #s.offers > 0 then
    redis.call('ZADD', c.due, fmt(s.heard * 1000), 's:' .. inst)
  end
end

local function serveAll(c)
  if c.pending == 1 and c.ms >= c.quar then
    c.pending = 0
    touchWaiting(c)
  end
  local due = c.isDue and redis.call('ZRANGEBYSCORE', c.due, '-inf', fmt(c.us), 'LIMIT', 0, 200) or {}
  for _, entry in ipairs(due) do
    redis.call('ZREM', c.due, entry)
    local kind, name = string.sub(entry, 1, 2), string.sub(entry, 3)
    if kind == 'f:' then
      redis.call('HDEL', c.rate, name)
    elseif kind == 's:' then
      checkSilence(c, name)
    else
      touch(c, name)
    end
  end
  for _, g in ipairs(c.order) do
    serve(c, g)
  end
  serveReady(c)
end

-- Writes what has changed and asks instances that have got their first offer to call.
local function finish(c, prefix)
  flush(c)
  local counters = {'last', fmt(c.us), 'keys', fmt(c.us) .. ' ' .. present(c)}
  local function add(field, value)
    counters[#counters + 1] = field
    counters[#counters + 1] = value
  end
  for inst, s in pairs(c.states) do
    if s.isChanged then
      local lines = {}
      for i, each in ipairs(s.offers) do
        lines[i] = each.g .. ' ' .. each.ticket .. ' ' .. fmt(each.k) .. '\n'
      end
      if #lines > 0 then
        add('o:' .. inst, table.concat(lines))
      else
        redis.call('HDEL', c.meta, 'o:' .. inst)
      end
    end
  end
  for inst, s in pairs(c.notices) do
    local command = string.match(s.link, '^(%u+) ')
    if #s.offers > 0 and (command == 'PUBLISH' or command == 'SPUBLISH') then
      redis.pcall(command, prefix .. string.match(inst, '^[^.]*'), inst .. '\n' .. s.number)
    end
  end
  for field, saved in pairs(c.saved) do
    local value = c[field]
    if value and value ~= saved then
      add(field, type(value) == 'number' and fmt(value) or value)
    end
  end
  if c.number and not c.leave then
    add('c:' .. c.me, c.number)
  end
  if c.stored and not c.leave then
    add('a:' .. c.me, c.stored)
  end
  if c.isRenewed and not c.leave then
    add('h:' .. c.me, fmt(c.states[c.me].heard))
  end
  redis.call('HSET', c.meta, unpack(counters))
end

-- The operations of an instance.

local ops = {}

-- Acquires what n tickets need: now, as far as there is room and no ticket is before; tickets for the rest, up to the
-- limit. All tickets of the caller in the group need `size` permits from now on.
function ops.a(c, g, n, size)
  touch(c, g)
  c.asked[g] = true
  local r = record(c, c.me, g)
  if r.size ~= size then
    r.size = math.max(1, size)
    store(c, c.me, g, r)
  end
  if n > 0 and c.ms >= c.quar and not head(c, g) then
    local k = sizeOf(c, c.me, g)
    local free = limit(c, g) - used(c, g)
    if hasCap(c) then
      local isTaken = c.isReady and redis.call('ZCARD', c.ready) > 0
      free = isTaken and 0 or math.min(free, cap(c) - used(c, '*'))
    end
    local now = math.min(n, math.floor(free / k), (allowance(c, g, k)))
    if now > 0 then
      use(c, g, now * k)
      hold(c, g, now * k)
      n = n - now
    end
  end
  local more = math.min(n, math.min(limit(c, g), WINDOW) - r.t)
  if more > 0 then
    local tickets = {}
    for _ = 1, more do
      c.seq = c.seq + 1
      tickets[#tickets + 1] = 0
      tickets[#tickets + 1] = g .. '\0' .. string.format('%015.0f', c.seq) .. '\0' .. c.me
    end
    callAll('ZADD', c.wait, tickets)
    c.isWaiting = true
    if c.queues[g] then
      c.queues[g].isAll = false
    end
    r.t = r.t + more
    store(c, c.me, g, r)
    if hasCap(c) then
      serve(c, g) -- takes the group's turn before the operations that follow
    end
  end
end

-- Returns n permits, of which `unused` were not used by any task.
function ops.r(c, g, n, unused)
  local r = record(c, c.me, g)
  local ofGroup, ofAll = used(c, g), used(c, '*')
  local rate = rateOf(c, g)
  local d = rate and debt(c, g, rate)
  n = math.min(n, r.n)
  r.n = r.n - n
  store(c, c.me, g, r)
  addUsed(c, g, ofGroup, ofAll, -n)
  if rate and unused > 0 then
    setDebt(c, g, rate, d - math.min(n, unused) * rate.cost)
  end
  touch(c, g)
end

local function dropTickets(c, g, r, n)
  if not c.isWaiting then
    return
  end
  c.queues[g] = nil
  local from, to = range(g)
  for _, ticket in ipairs(redis.call('ZREVRANGEBYLEX', c.wait, to, from)) do
    if n <= 0 then
      break
    end
    if string.match(ticket, '^[^%z]*%z%d+%z(.+)$') == c.me then
      redis.call('ZREM', c.wait, ticket)
      r.t = math.max(0, r.t - 1)
      n = n - 1
    end
  end
end

-- Cancels the n youngest tickets.
function ops.c(c, g, n)
  local r = record(c, c.me, g)
  dropTickets(c, g, r, n)
  store(c, c.me, g, r)
  c.asked[g] = true
  touch(c, g)
end

-- Reasserts that the instance holds exactly n permits, besides what this call has granted, and has no tickets.
function ops.k(c, g, n)
  n = n + (c.claimed[g] or 0)
  local r = record(c, c.me, g)
  local ofGroup, ofAll = used(c, g), used(c, '*')
  dropTickets(c, g, r, HIGHEST)
  local more = n - r.n
  r.n, r.t = n, 0
  store(c, c.me, g, r)
  addUsed(c, g, ofGroup, ofAll, more)
  touch(c, g)
end

-- Asks for the limits of the group, and whether others wait.
function ops.y(c, g)
  c.asked[g] = true
end

-- Asks for the holders, too.
function ops.q(c, g)
  c.asked[g] = true
  c.detailed[g] = true
end

-- Restores a setting that the server has lost.
function ops.f(c, field, value)
  if redis.call('HSETNX', c.conf, field, value) == 1 then
    c.version = math.max(c.version + 1, c.us)
    forgetSettings(c)
  end
end

-- Sets what has no entry yet, because a resolver of the instance says so.
function ops.n(c, field, value)
  if not setting(c, field) then
    redis.call('HSET', c.conf, field, value)
    forgetSettings(c)
  end
end

-- Asks for everything that the server knows of the instance.
function ops.s(c)
  c.sync = true
end

-- Leaves: frees everything.
function ops.l(c)
  c.leave = true
end

local function position(c, g)
  local from, to = range(g)
  local i = 0
  for _, ticket in ipairs(redis.call('ZRANGEBYLEX', c.wait, from, to, 'LIMIT', 0, 100)) do
    i = i + 1
    if string.match(ticket, '^[^%z]*%z%d+%z(.+)$') == c.me then
      return i
    end
  end
  return 0
end

local function nameOf(c, inst)
  return string.match(redis.call('HGET', c.meta, 'i:' .. inst) or '', '^%u+ %d+ (.*)$') or inst
end

local function holders(c, g)
  local found = {'h', g}
  for _, inst in ipairs(redis.call('ZRANGE', c.exp, 0, 999)) do
    local r = record(c, inst, g)
    if r.n > 0 then
      found[#found + 1] = nameOf(c, inst)
      found[#found + 1] = fmt(r.n)
      found[#found + 1] = fmt(math.max(0, c.ms - r.since))
    end
  end
  return found
end

local function describe(c, g)
  local r = record(c, c.me, g)
  local contended = hasCap(c) and c.isReady and redis.call('ZCARD', c.ready) > 0
  if not contended and head(c, g) then
    local from, to = range(g)
    contended = redis.call('ZLEXCOUNT', c.wait, from, to) > r.t
  end
  local l = math.min(limit(c, g), cap(c)) -- a task that costs more would wait for ever
  c.results[#c.results + 1] = 'i ' .. g .. ' ' .. fmt(l == HIGHEST and 0 or l) .. ' ' .. fmt(r.t)
    .. (contended and ' 1' or ' 0') .. (rateOf(c, g) and ' 1 ' or ' 0 ')
    .. fmt(r.t > 0 and c.detailed[g] and position(c, g) or 0)
  if c.detailed[g] then
    c.results[#c.results + 1] = holders(c, g)
  end
end

local function describeInstance(c)
  flush(c)
  for _, member in ipairs(redis.call('ZRANGEBYLEX', c.own, '[' .. c.me .. '\0', '(' .. c.me .. '\1')) do
    local g = string.sub(member, #c.me + 2)
    local r = record(c, c.me, g)
    c.fence = math.max(c.fence + r.n, c.us)
    c.results[#c.results + 1] = {'s', g, fmt(r.n), fmt(r.t), fmt(c.fence), rateOf(c, g) and '1' or '0'}
  end
  c.results[#c.results + 1] = {'e'}
end

-- us until the next group that a rate delays may be served or an instance with offers is silent, or until the last bucket is full of as many as are looked
-- at, because such a group may come after it; -1 if there is none. 0 if dead instances may be left.
local function nextDue(c)
  if c.isUnfinished then
    return 0
  end
  local entries = c.isDue and redis.call('ZRANGE', c.due, 0, MOST_DUE - 1, 'WITHSCORES') or {}
  for i = 1, #entries, 2 do
    if string.sub(entries[i], 1, 2) ~= 'f:' or i == 2 * MOST_DUE - 1 then
      return math.max(0, int(entries[i + 1], 'due') - c.us)
    end
  end
  return -1
end

local function answer(c, state, results)
  return {state, fmt(c.inc), fmt(math.max(0, c.quar - c.ms)), fmt(c.longest), fmt(nextDue(c)), fmt(c.ahead),
    fmt(c.version), c.ms < c.quar and c.why or '', c.policy or '', results}
end

local function execute(c, args)
  for i = 11, #args, 4 do
    local op = ops[args[i]]
    if not op then
      error('RADDLE unknown operation ' .. string.sub(args[i], 1, 10))
    end
    if args[i] == 'f' or args[i] == 'n' then
      op(c, args[i + 1], args[i + 2])
    else
      op(c, args[i + 1], int(args[i + 2], 'argument'), int(args[i + 3], 'argument'))
    end
  end
end

local function serveAfter(c)
  buryDead(c)
  if c.cursor then
    resume(c)
  end
  if c.leave then
    bury(c, c.me)
  end
  serveAll(c)
  for g in pairs(c.asked) do
    describe(c, g)
  end
end

-- Repeats the answer to the last call.
local function repeatAnswer(c)
  serveAfter(c)
  local stored = redis.call('HGET', c.meta, 'a:' .. c.me)
  return stored == '' and {} or cmsgpack.unpack(stored)
end

local function executeNew(c, args)
  claim(c)
  execute(c, args)
  serveAfter(c)
  if c.sync then
    describeInstance(c)
  end
  local results = c.results
  if args[10] ~= fmt(c.version) and not c.leave then
    local all = redis.call('HGETALL', c.conf)
    all[#all + 1] = 'v'
    all[#all + 1] = fmt(c.version)
    table.insert(all, 1, 'v')
    results[#results + 1] = all
  end
  c.stored = #results > 0 and cmsgpack.pack(results) or ''
  return results
end

local function stateOf(c, args, number)
  local isKnown, believes = c.leases[c.me], args[5] == fmt(c.inc)
  if isKnown and not isAlive(c, c.me) then
    return 'lost'
  elseif not isKnown and args[5] ~= '' and believes then
    return 'lost'
  elseif args[5] ~= '' and not believes then
    return 'new'
  elseif number < c.before then
    return 'old'
  elseif number == c.before and isKnown then
    return redis.call('HEXISTS', c.meta, 'a:' .. c.me) == 1 and 'again' or 'lost'
  end
  return 'ok'
end

local function renew(c, args, ttl)
  if not c.leases[c.me] then
    redis.call('HSET', c.meta, 'i:' .. c.me, args[7] .. ' ' .. fmt(c.ms) .. ' ' .. args[9])
  end
  redis.call('ZADD', c.exp, fmt(c.ms + ttl), c.me)
  c.leases[c.me] = fmt(c.ms + ttl)
  local s = c.states[c.me]
  if s.heard > 0 and s.heard <= c.ms then
    c.cursor = ''
  end
  s.heard = c.ms + math.floor(ttl / 3)
  c.isRenewed = true
end

-- The groups of the operations.
local function groupsOf(args)
  local groups, seen = {}, {}
  for i = 11, #args, 4 do
    local g = args[i + 1]
    if not seen[g] and args[i] ~= 'f' and args[i] ~= 'n' and g ~= '' then
      seen[g] = true
      groups[#groups + 1] = g
    end
  end
  return groups
end

-- me, number, ttl, longest known ttl, believed incarnation, fresh, PUBLISH or SPUBLISH, channel prefix, name,
-- known version of conf, then for each operation its name and three arguments
local function batch(keys, args)
  local ttl, number = int(args[3], 'ttl'), int(args[2], 'number')
  local c = begin(keys, math.max(ttl, int(args[4], 'ttl')), args[1], groupsOf(args), args[6] == '1')
  c.asked, c.detailed = {}, {}
  if args[6] == '1' then
    checkRun(c)
    c.policy = policy()
  end
  local state = stateOf(c, args, number)
  c.isRepeated = state == 'again' or state == 'old'
  if state == 'lost' or state == 'old' then
    buryDead(c)
    serveAll(c)
    finish(c, args[8])
    return answer(c, state, {})
  end
  renew(c, args, ttl)
  local isDone, results = true, {}
  if state == 'new' then
    isDone, results = pcall(serveAfter, c)
    results = isDone and {} or results
  elseif state == 'again' then
    isDone, results = pcall(repeatAnswer, c)
    state = 'ok'
  else
    c.number = fmt(number)
    isDone, results = pcall(executeNew, c, args)
  end
  if not isDone and c.number then
    redis.call('HDEL', c.meta, 'a:' .. c.me)
  end
  finish(c, args[8])
  if not isDone then
    error(results, 0)
  end
  return answer(c, state, results)
end

-- ttl, channel prefix, field, value or empty to remove it
local function configure(keys, args)
  local c = begin(keys, int(args[1], 'ttl'), nil, {}, true)
  local field, value = args[3], args[4]
  local concerned = {}
  if string.sub(field, 1, 2) == 'r:' then
    concerned = {string.sub(field, 3)}
  elseif field == '?r' then
    concerned = redis.call('HKEYS', c.rate)
  end
  local old, debts = {}, {}
  for _, g in ipairs(concerned) do
    if field ~= '?r' or not setting(c, 'r:' .. g) then
      old[g] = rateOf(c, g)
      debts[g] = old[g] and debt(c, g, old[g])
    end
  end
  if value == '' then
    redis.call('HDEL', c.conf, field)
  else
    redis.call('HSET', c.conf, field, value)
  end
  forgetSettings(c)
  for g, d in pairs(debts) do
    local new = rateOf(c, g)
    if new then
      setDebt(c, g, new, d and math.min(new.burst * new.cost, math.ceil(d / old[g].cost * new.cost)) or 0)
    else
      redis.call('HDEL', c.rate, g)
      redis.call('ZREM', c.due, 'f:' .. g)
    end
  end
  c.version = math.max(c.version + 1, c.us)
  forgetSettings(c)
  buryDead(c)
  if field == '?' or field == '?r' or field == '*' then
    touchWaiting(c)
  else
    touch(c, string.sub(field, 3))
  end
  if not hasCap(c) then
    for _, g in ipairs(redis.call('ZRANGE', c.ready, 0, -1)) do
      touch(c, g)
    end
    redis.call('DEL', c.ready)
  end
  serveAll(c)
  finish(c, args[2])
  return {fmt(c.version)}
end

-- Everything, for people. Writes nothing.
local function status(keys)
  checkTypes(keys)
  local c = open(keys)
  local time = redis.call('TIME')
  local meta = redis.call('HMGET', c.meta, 'last', 'quar', 'ahead')
  local us = math.max(time[1] * 1000000 + time[2] + int(meta[3] or 0, 'meta ahead'), int(meta[1] or 0, 'meta last'))
  local instances = {}
  local leases = redis.call('ZRANGE', c.exp, 0, -1, 'WITHSCORES')
  for i = 1, #leases, 2 do
    instances[#instances + 1] = leases[i]
    instances[#instances + 1] = leases[i + 1]
    instances[#instances + 1] = redis.call('HGET', c.meta, 'i:' .. leases[i]) or ''
  end
  return {fmt(math.floor(us / 1000)), meta[2] or '0', instances, redis.call('HGETALL', c.used),
    redis.call('HGETALL', c.held), redis.call('HGETALL', c.conf)}
end
