internal import Foundation

/// The rules for links of items and attachments.
///
///     print(WebLink.normalised("HTTPS://news.example/ferry") ?? "invalid")  // https://news.example/ferry
///     print(WebLink.normalised("/ferry") ?? "invalid")  // invalid
public enum WebLink {
  /// The maximum length of a link in bytes.
  package static let maximumBytes = 2048

  /// Validates an absolute http or https URL of at most 2048 bytes.
  ///
  /// - Returns: The URL with its scheme in lower case (RFC 3986 section 3.1); nil for any other text.
  public static func normalised(_ text: String) -> String? {
    guard text.utf8.count <= maximumBytes, text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }), let url = URL(string: text),
      let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), url.host()?.isEmpty == false
    else { return nil }
    return scheme + text.dropFirst(scheme.utf8.count)
  }
}
