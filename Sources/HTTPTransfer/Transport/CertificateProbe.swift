import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Finds out why the certificate of a server was refused. BoringSSL reports only that it was.
enum CertificateProbe {
  private static let timeout = TimeAmount.seconds(5)

  /// Connects once more, looks at the certificate, and closes the connection before anything is sent.
  ///
  /// - Returns: The reason; nil if the server cannot be reached now.
  static func reason(_ url: URL, on group: any EventLoopGroup) async -> String? {
    guard let host = url.host(percentEncoded: false), let port = url.effectivePort,
      let context = try? NIOSSLContext(configuration: .makeClientConfiguration())
    else { return nil }
    let found = group.any().makePromise(of: String?.self)
    let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
    let bootstrap = ClientBootstrap(group: group).connectTimeout(timeout).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let handler = try NIOSSLClientHandler(
          context: context, serverHostname: isAddress ? nil : host,
          customVerificationCallback: { certificates, verdict in
            found.succeed(certificates.first.map { Self.reason($0, at: Date()) })
            verdict.succeed(.failed)
          })
        try channel.pipeline.syncOperations.addHandler(handler)
      }
    }
    bootstrap.connect(host: host, port: port).whenComplete { result in
      switch result {
      case .failure: found.succeed(nil)
      case .success(let channel):
        channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in found.succeed(nil) }
      }
    }
    return try? await found.futureResult.get()
  }

  private static func reason(_ certificate: NIOSSLCertificate, at now: Date) -> String {
    func day(_ time: time_t) -> String {
      Date(timeIntervalSince1970: Double(time)).formatted(.iso8601.year().month().day())
    }
    if Double(certificate.notValidAfter) < now.timeIntervalSince1970 {
      return "the server's certificate has expired (\(day(certificate.notValidAfter)))"
    }
    if Double(certificate.notValidBefore) > now.timeIntervalSince1970 {
      return "the server's certificate is not valid before \(day(certificate.notValidBefore)); is the clock right?"
    }
    return "the server's certificate is not trusted: no known authority has signed it"
  }
}
