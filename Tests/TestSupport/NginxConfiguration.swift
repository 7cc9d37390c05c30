import Foundation

/// The shipped configuration from `deploy/nginx`, with the additions that a test needs.
struct NginxConfiguration {
  let folder: URL
  let port: Int
  let servers: [Int]
  let cache: Bool
  let isCounted: Bool
  let limit: Proxy.Limit?
  let certificate: Proxy.Certificate?
  /// The port that redirects plain HTTP to HTTPS.
  let plainPort: Int?

  func text() throws -> String {
    """
    daemon off;
    \(getuid() == 0 ? "user root;" : "")
    pid \(folder.path)/nginx.pid;
    worker_rlimit_nofile 8192;
    events { worker_connections 4096; }
    http {
      access_log off;
      log_format counted '$request_uri $status $http_if_none_match$http_if_modified_since';
      client_body_temp_path \(folder.path)/bodies;
      proxy_temp_path \(folder.path)/responses;
      fastcgi_temp_path \(folder.path)/fastcgi;
      uwsgi_temp_path \(folder.path)/uwsgi;
      scgi_temp_path \(folder.path)/scgi;
      \(try main())
      \(try limits())
      \(try security())
    }
    """
  }

  private func main() throws -> String {
    let listen = "127.0.0.1:\(port)" + (certificate == nil ? "" : " ssl http2")
    let rendered = try render(
      "tidings",
      [
        "TIDINGS_SERVERS": ["", " backup max_fails=0"].flatMap { role in
          servers.map { "server 127.0.0.1:\($0)\(role);" }
        }.joined(separator: " "),
        "TIDINGS_LISTEN": listen, "TIDINGS_CACHE": cache ? "tidings" : "off",
        "TIDINGS_CACHE_PATH": folder.appending(path: "cache").path,
      ])
    if !isCounted { return rendered }
    return rendered.replacing(
      "listen \(listen);",
      with: """
        listen \(listen);
        access_log \(folder.path)/access.log counted;
        error_page 503 @closed;
        location @closed { add_header Retry-After \(Proxy.retryAfter) always; return 503; }
        if (-f \(folder.path)/closed) { return 503; }
        """)
  }

  private func limits() throws -> String {
    guard let limit else { return "" }
    return try render("limit", ["TIDINGS_RATE": limit.rate, "TIDINGS_BURST": String(limit.burst)])
  }

  /// Returns the redirect of plain HTTP, and writes the file that the server in `tidings.conf` includes for TLS.
  private func security() throws -> String {
    guard let certificate, let plainPort else { return "" }
    let included = folder.appending(path: "conf.d/tidings")
    try FileManager.default.createDirectory(at: included, withIntermediateDirectories: true)
    try render(
      "tls",
      ["TIDINGS_CERTIFICATE": certificate.certificate, "TIDINGS_CERTIFICATE_KEY": certificate.key]
    ).write(to: included.appending(path: "tls.conf"), atomically: true, encoding: .utf8)
    return try render("redirect", ["TIDINGS_LISTEN_PLAIN": "127.0.0.1:\(plainPort)", "TIDINGS_TLS_PORT": "8443"])
  }

  private func render(_ name: String, _ variables: [String: String]) throws -> String {
    let template = try String(
      contentsOf: Project.root.appending(path: "deploy/nginx/\(name).conf.template"), encoding: .utf8)
    return variables.reduce(template) { $0.replacing("${\($1.key)}", with: $1.value) }
  }
}
