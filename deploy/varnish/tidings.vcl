vcl 4.1;

// Varnish 7 in front of Tidings. The servers are in backends.vcl beside this file:
//
//   varnishd -a :80 -f /etc/varnish/tidings.vcl -s malloc,256m
//
// The Cache-Control of each response determines how long it is cached. Within `s-maxage`, it is fresh. Within
// `stale-while-revalidate`, it is sent while one request revalidates it. Within `stale-if-error`, it is sent only if no
// server responds.

import std;
include "./backends.vcl";

sub vcl_recv {
  # All rules below are about paths. A target may also be a whole URL (RFC 9112 section 3.2.2), of which Varnish itself removes
  # only http://HOST. Anything else is no target that Tidings knows.
  set req.url = regsub(req.url, "(?i)^https?://[^/?#]*/?", "/");
  if (req.url !~ "^/") {
    return (synth(400));
  }
  set req.backend_hint = servers.backend();
  if (req.restarts == 0) {
    unset req.http.X-Tidings-Stale;
    unset req.http.X-Tidings-Encoding;
  }
  // A cached response is not the one that the reader has, so that changes to it (RFC 3229) would begin at the wrong version.
  unset req.http.A-IM;
  if (req.url ~ "^/metrics([/?]|$)") {
    return (synth(404));
  }
  // Only the console has cookies. Everything else is the same for everyone.
  if (req.url !~ "^/console([/?]|$)") {
    unset req.http.Cookie;
  }
  // An event stream has no end, and a file for a slow reader must not fill Varnish's memory.
  if (req.url ~ "^/(v1|console/live)/events(\?|$)" || (req.url ~ "^/v1/media/" && req.method == "GET")) {
    return (pipe);
  }
  // Editorial requests, the console, callbacks of hubs and long polls pass unchanged.
  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
  if (req.url ~ "^/v1/(editorial|media|websub)(/|$)" || req.url ~ "^/console([/?]|$)"
    || req.url ~ "^/(healthz|readyz)(\?|$)" || req.url ~ "[?&]wait=") {
    return (pass);
  }
  // Public responses are the same for everyone, and do not support ranges.
  unset req.http.Authorization;
  unset req.http.Range;
  // A response has two variants, with and without gzip, for all spellings of Accept-Encoding.
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

// By default, Varnish fetches only compressed responses and decompresses them for other clients, with the entity tag of the
// compressed variant.
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
  // Otherwise, the next request of the connection would be piped too.
  set bereq.http.Connection = "close";
}

sub vcl_backend_response {
  if (bereq.uncacheable) {
    return (deliver);
  }
  // A 429 or 5xx does not replace a cached response.
  if (beresp.status == 429 || beresp.status >= 500) {
    if (bereq.is_bgfetch) {
      return (abandon);
    }
    // Treated as if no server had responded, so that the stale response can be looked up again. An uncacheable response
    // would replace it.
    if (beresp.status >= 500) {
      return (error(503, "Service Unavailable"));
    }
    set beresp.uncacheable = true;
    set beresp.ttl = 0s;
    return (deliver);
  }
  // Other uncacheable responses replace it. The usual time of 120 s is longer than any response may be sent stale.
  if (beresp.http.Cache-Control ~ "(?i)no-store|no-cache|private" || beresp.http.Set-Cookie || beresp.ttl <= 0s) {
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
  // Keeps the response for revalidation with its validators.
  set beresp.keep = 10m;
  return (deliver);
}

sub vcl_hit {
  if (obj.ttl >= 0s || req.http.X-Tidings-Stale == "any"
    || obj.ttl + std.duration(obj.http.X-Tidings-Revalidate, 0s) >= 0s) {
    return (deliver);
  }
  // Too old: the request waits for the active fetch. The stale response is used only if that fetch fails.
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
  // RFC 9110 section 13.1.2. Varnish itself supports neither lists of tags nor weak comparison.
  if (req.http.If-None-Match) {
    unset req.http.If-Modified-Since;
    if (resp.http.ETag && (req.http.If-None-Match == "*" || std.strstr(req.http.If-None-Match, resp.http.ETag))) {
      set req.http.If-None-Match = resp.http.ETag;
      if (resp.status == 200 && !obj.uncacheable) {
        // The response becomes a 304, and these fields describe a body.
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
  if (resp.status == 400) {
    set resp.body = """{"status":400,"title":"The request is not valid HTTP","type":"/problems/malformed-request"}""";
  } else {
    set resp.body = """{"status":404,"title":"The resource does not exist","type":"/problems/not-found"}""";
  }
  return (deliver);
}
