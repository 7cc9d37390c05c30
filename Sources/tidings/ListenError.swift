import Foundation
import NIOCore

/// An address on which the server cannot listen.
struct ListenError: Error, CustomStringConvertible {
  let host: String
  let port: Int
  let cause: any Error

  var description: String {
    let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    return "cannot listen on \(address): \(reason)"
  }

  private var reason: String {
    guard let code = (cause as? IOError)?.errnoCode else {
      return "the host name cannot be resolved. Correct TIDINGS_HOST or --host."
    }
    let words = "\(SystemReason(code: code))."
    switch code {
    case EADDRINUSE: return "\(words) Stop the program that uses it, or choose another port (TIDINGS_PORT or --port)."
    case EACCES: return "\(words) Choose a port above 1023 (TIDINGS_PORT or --port), or grant CAP_NET_BIND_SERVICE."
    case EADDRNOTAVAIL: return "\(words) Choose an address of this machine (TIDINGS_HOST or --host)."
    default: return "\(words) Correct TIDINGS_HOST and TIDINGS_PORT."
    }
  }
}
