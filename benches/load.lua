-- What wrk sends: the body of the variable BODY, and what it tells at the end: one line of JSON.
wrk.method = os.getenv("METHOD") or "POST"
wrk.body = os.getenv("BODY")
wrk.headers["Content-Type"] = "application/json"

function done(summary, latency)
   -- Counted by wrk itself: a function for each answer would cost more than the server does.
   local bad = summary.errors.status
   local good = summary.requests - bad
   local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
   io.write(string.format(
      '\nRESULT {"good":%d,"bad":%d,"errors":%d,"perSecond":%.0f,"p50":%.2f,"p99":%.2f,"max":%.2f}\n',
      good, bad, errors, good / (summary.duration / 1e6), latency:percentile(50) / 1000,
      latency:percentile(99) / 1000, latency.max / 1000))
end
