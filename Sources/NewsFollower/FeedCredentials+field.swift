import Foundation
import NewsStore

extension FeedCredentials {
  /// The value of the field `Authorization` (RFC 7617 section 2).
  var field: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}
