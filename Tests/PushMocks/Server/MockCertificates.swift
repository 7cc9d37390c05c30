import Foundation
import NIOSSL

/// A certificate authority, and a certificate of it for `127.0.0.1` and `localhost`, both valid for a week.
public struct MockCertificates: Sendable {
  /// The certificates could not be made.
  public struct Failure: Error, CustomStringConvertible {
    /// The reason.
    public let description: String
  }

  /// The certificate of the authority, as PEM.
  public let authority: String
  let chain: [NIOSSLCertificate]
  let key: NIOSSLPrivateKey

  /// Makes certificates with `openssl`.
  ///
  /// - Throws: `Failure`, or an error of the file system.
  public init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "push-mocks.\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appending(path: name).path }
    let new = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "7",
    ]
    try Self.openssl(new + ["-subj", "/CN=Push mocks", "-keyout", path("ca.key"), "-out", path("ca.crt")])
    try Self.openssl(
      new + [
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-CA", path("ca.crt"),
        "-CAkey", path("ca.key"), "-keyout", path("server.key"), "-out", path("server.crt"),
      ])
    authority = try String(contentsOfFile: path("ca.crt"), encoding: .utf8)
    chain = try NIOSSLCertificate.fromPEMFile(path("server.crt"))
    key = try NIOSSLPrivateKey(file: path("server.key"), format: .pem)
  }

  private static func openssl(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(description: "openssl failed") }
  }
}
