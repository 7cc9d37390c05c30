vcl 4.1;

// Varnish before Tidings, for version 7. The servers stand in backends.vcl beside this file:
//
//   varnishd -a :80 -f /etc/varnish/tidings.vcl -s malloc,256m
//
// How long an answer is kept is for Tidings to say, in Cache-Control: for `s-maxage` it is new, for
// `stale-while-revalidate` it is given out while one request asks whether it still is, and for `stale-if-error` only
// if the servers do not answer.

import std;
include "./backends.vcl";

sub vcl_recv {
  set req.backend_hint = servers.backend();
  if (req.restarts == 0) {
    unset req.http.X-Tidings-Stale;
    unset req.http.X-Tidings-Encoding;
  }
  if (req.url ~ "^/metrics([/?]|$)") {
    return (synth(404));
  }
  // A stream of events has no end, and a file waits at the server for a slow reader, rather than here in memory.
  if (req.url ~ "^/v1/events(\?|$)" || (req.url ~ "^/v1/media/" && req.method == "GET")) {
    return (pipe);
  }
  // Editors' requests go through as they are, and so do those that wait for what comes next.
  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
  if (req.url ~ "^/v1/(editorial|media)(/|$)" || req.url ~ "^/(healthz|readyz)(\?|$)" || req.url ~ "[?&]wait=") {
    return (pass);
  }
  // Public answers are the same for everyone, and have no parts.
  unset req.http.Authorization;
  unset req.http.Cookie;
  unset req.http.Range;
  // There are two variants of an answer, whatever the many spellings of Accept-Encoding are.
  if (req.http.Accept-Encoding ~ "(?i)(^|[\s,])gzip\s*(;|,|$)"
    && req.http.Accept-Encoding !~ "(?i)(^|[\s,])gzip\s*;\s*q=0(\.0*)?\s*(,|$)") {
    set req.http.X-Tidings-Encoding = "gzip";
  }
  return (hash);
}

sub vcl_hash {
  hash_data(req.url);
  hash_data(req.http.X-Tidings-Encoding);
  return (lookup);
}

// Varnish would ask for compressed answers only and expand them for others: with the tag of the compressed one.
sub vcl_backend_fetch {
  if (!bereq.uncacheable) {
    unset bereq.http.Accept-Encoding;
    if (bereq.http.X-Tidings-Encoding) {
      set bereq.http.Accept-Encoding = bereq.http.X-Tidings-Encoding;
    }
  }
  unset bereq.http.X-Tidings-Encoding;
  unset bereq.http.X-Tidings-Stale;
}

sub vcl_pipe {
  // Or the next request of the connection would go the same way.
  set bereq.http.Connection = "close";
}

sub vcl_backend_response {
  if (bereq.uncacheable) {
    return (deliver);
  }
  // What says that there is no answer now does not take the place of one.
  if (beresp.status == 429 || beresp.status >= 500) {
    if (bereq.is_bgfetch) {
      return (abandon);
    }
    // As if no server had answered: what was given out before can be looked up again. An answer that is not kept would be
    // found in its place.
    if (beresp.status >= 500) {
      return (error(503, "Service Unavailable"));
    }
    set beresp.uncacheable = true;
    set beresp.ttl = 0s;
    return (deliver);
  }
  // Whatever else must not be kept does: with the usual 120 s this outlives all that may be given out stale.
  if (beresp.http.Cache-Control ~ "(?i)no-store|private" || beresp.http.Set-Cookie || beresp.ttl <= 0s) {
    set beresp.uncacheable = true;
    set beresp.ttl = 120s;
    return (deliver);
  }
  set beresp.http.X-Tidings-Revalidate = "0s";
  if (beresp.http.Cache-Control ~ "(?i)stale-while-revalidate=[0-9]+") {
    set beresp.http.X-Tidings-Revalidate =
      regsub(beresp.http.Cache-Control, "(?i)^.*stale-while-revalidate=([0-9]+).*$", "\1s");
  }
  set beresp.grace = std.duration(beresp.http.X-Tidings-Revalidate, 0s);
  if (beresp.http.Cache-Control ~ "(?i)stale-if-error=[0-9]+") {
    set beresp.grace = beresp.grace
      + std.duration(regsub(beresp.http.Cache-Control, "(?i)^.*stale-if-error=([0-9]+).*$", "\1s"), 0s);
  }
  // To ask with its validators whether it is still the same.
  set beresp.keep = 10m;
  return (deliver);
}

sub vcl_hit {
  if (obj.ttl >= 0s || req.http.X-Tidings-Stale == "any"
    || obj.ttl + std.duration(obj.http.X-Tidings-Revalidate, 0s) >= 0s) {
    return (deliver);
  }
  // Too old, unless there is nothing better: the request waits for the answer that has been asked for already.
  set req.http.X-Tidings-Stale = "none";
  set req.grace = 0s;
  return (restart);
}

sub vcl_deliver {
  if (resp.status >= 500 && req.http.X-Tidings-Stale == "none" && req.restarts < 3) {
    set req.http.X-Tidings-Stale = "any";
    set req.grace = 1h;
    return (restart);
  }
  unset resp.http.X-Tidings-Revalidate;
  unset resp.http.X-Varnish;
  if (req.url !~ "^/v1/media/") {
    unset resp.http.Accept-Ranges;
  }
  // RFC 9110 section 13.1.2, of which Varnish knows one tag, and no weak comparison.
  if (req.http.If-None-Match) {
    unset req.http.If-Modified-Since;
    if (resp.http.ETag && (req.http.If-None-Match == "*" || std.strstr(req.http.If-None-Match, resp.http.ETag))) {
      set req.http.If-None-Match = resp.http.ETag;
      if (resp.status == 200 && !obj.uncacheable) {
        // It becomes a 304, which has no body that these could be of.
        unset resp.http.Content-Encoding;
        unset resp.http.Content-Type;
      }
    }
  }
  return (deliver);
}

sub vcl_backend_error {
  if (bereq.is_bgfetch) {
    return (abandon);
  }
  set beresp.http.Content-Type = "application/problem+json";
  set beresp.http.Cache-Control = "no-store";
  set beresp.http.Retry-After = "5";
  set beresp.body = """{"status":503,"title":"Service Unavailable","type":"about:blank"}""";
  return (deliver);
}

sub vcl_synth {
  set resp.http.Content-Type = "application/problem+json";
  set resp.http.Cache-Control = "no-store";
  set resp.body = """{"status":404,"title":"There is nothing here","type":"/problems/not-found"}""";
  return (deliver);
}
