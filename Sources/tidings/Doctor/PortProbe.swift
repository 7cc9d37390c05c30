import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// Determines the current use of a port.
enum PortProbe {
  enum Outcome: Equatable {
    case free
    /// A Tidings server responds.
    case tidings
    case taken
    /// The server cannot listen there, for the given reason of the system.
    case unusable(String)
  }

  static func probe(host: String, port: Int) -> Outcome {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0, let address = found else { return .unusable(String(cString: gai_strerror(status))) }
    defer { freeaddrinfo(found) }
    let reason = bind(to: address.pointee)
    switch reason {
    case 0: return .free
    case EADDRINUSE: return answersAsTidings(address.pointee) ? .tidings : .taken
    default: return .unusable(String(cString: strerror(reason)))
    }
  }

  /// - Returns: 0, or the error number that the server would get.
  private static func bind(to address: addrinfo) -> Int32 {
    let descriptor = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard Glibc.bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, 1) == 0 else {
      return errno
    }
    return 0
  }

  private static func answersAsTidings(_ address: addrinfo) -> Bool {
    let descriptor = socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var timeout = timeval(tv_sec: 3, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }
    // Connecting to the unspecified address connects to this machine (Linux, ip(7)).
    guard connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else { return false }
    let request = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return false }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while answer.count < 1 << 16 {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      answer += buffer[..<count]
    }
    let text = String(decoding: answer, as: UTF8.self)
    return text.hasPrefix("HTTP/1.1 200") && text.contains(#"{"status":"ok""#)
  }
}
