public import Foundation

/// A certificate authority for one test, and a server certificate signed by it.
public struct TestCertificates: Sendable {
  /// The path of the authority's certificate, a PEM file.
  public let authority: String
  /// The server's certificate, as PEM.
  public let certificate: String
  /// The server's private key, as PEM.
  public let key: String

  /// Creates the certificates in a folder with `openssl`, valid for a day.
  ///
  /// - Parameter host: The host name of the server's certificate.
  public init(in folder: URL, host: String) throws {
    func path(_ name: String) -> String { folder.appending(path: name).path }
    let new = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
    ]
    try Self.openssl(new + ["-subj", "/CN=An authority", "-keyout", path("ca.key"), "-out", path("ca.crt")])
    try Self.openssl(
      new + [
        "-subj", "/CN=\(host)", "-addext", "subjectAltName=DNS:\(host)", "-CA", path("ca.crt"), "-CAkey",
        path("ca.key"), "-keyout", path("server.key"), "-out", path("server.crt"),
      ])
    authority = path("ca.crt")
    certificate = try String(contentsOfFile: path("server.crt"), encoding: .utf8)
    key = try String(contentsOfFile: path("server.key"), encoding: .utf8)
  }

  private static func openssl(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw TestCluster.Failure(description: "openssl failed") }
  }
}
