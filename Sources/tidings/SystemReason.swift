import Foundation
import SystemPackage

/// The system's description of an error, for the end of a sentence: `permission denied`.
struct SystemReason: Error, CustomStringConvertible {
  let description: String

  init(code: Int32) {
    let text = String(cString: strerror(code))
    let isWord = text.dropFirst().first?.isLowercase == true
    self.init(text: isWord ? text.prefix(1).lowercased() + text.dropFirst() : text)
  }

  private init(text: String) { description = text }

  /// Uses the error number of an error from the libraries that provide one.
  init(_ error: any Error) {
    if let error = error as? Errno {
      self.init(code: error.rawValue)
    } else if let code = Self.code(in: error) {
      self.init(code: code)
    } else {
      self.init(text: "\(error)")
    }
  }

  private static func code(in error: any Error) -> Int32? {
    let error = error as NSError
    if error.domain == NSPOSIXErrorDomain { return Int32(exactly: error.code) }
    // On Linux this is a `POSIXError`, which is no `NSError`.
    return (error.userInfo[NSUnderlyingErrorKey] as? any Error).flatMap(code)
  }
}
