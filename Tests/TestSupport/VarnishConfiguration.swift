import Foundation

/// The shipped configuration from `deploy/varnish`, with other backends.
struct VarnishConfiguration {
  /// The ports of the backends.
  let servers: [Int]

  func write(to folder: URL) throws {
    let delivered = Project.root.appending(path: "deploy/varnish")
    try FileManager.default.copyItem(
      at: delivered.appending(path: "tidings.vcl"), to: folder.appending(path: "tidings.vcl"))
    let backends = try String(contentsOf: delivered.appending(path: "backends.vcl"), encoding: .utf8)
    // All but the backends stays as shipped.
    guard let server = backends.firstRange(of: "backend one {"),
      let end = backends[server.upperBound...].firstRange(of: "}\n")
    else { throw TestResponse.Unexpected(description: "backends.vcl has no backend `one`") }
    let one = String(backends[server.lowerBound..<end.upperBound])
    let all = servers.enumerated().map { index, port in
      one.replacing("backend one", with: "backend server\(index)").replacing("8080", with: String(port))
    }
    let uses = servers.indices.map { "servers.add_backend(server\($0));" }
    try backends.replacing(one, with: all.joined(separator: "\n"))
      .replacing("servers.add_backend(one);", with: uses.joined(separator: "\n  "))
      .write(to: folder.appending(path: "backends.vcl"), atomically: true, encoding: .utf8)
  }
}
