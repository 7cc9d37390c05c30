internal import News

extension MediaType {
  /// Returns `type/subtype` in lower case without parameters (RFC 9110 section 8.3.1); nil if the text is not a media
  /// type.
  static func valid(_ text: String) -> String? {
    let bytes = text.utf8.prefix(256).prefix { $0 != UInt8(ascii: ";") }
    let essence = String(decoding: bytes, as: UTF8.self).lowercased().trimmed
    return isValid(essence) ? essence : nil
  }

  /// Guesses a media type from the extension of a URL's path; `application/octet-stream` if the extension is unknown.
  static func guessed(from url: String) -> String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    let name = path.split(separator: "/").last ?? ""
    guard let point = name.lastIndex(of: ".") else { return unknown }
    return byExtension[name[name.index(after: point)...].lowercased()] ?? unknown
  }

  /// The media type of a file of unknown type (RFC 9110 section 8.3).
  static let unknown = "application/octet-stream"

  private static let byExtension = [
    "aac": "audio/aac", "avif": "image/avif", "bmp": "image/bmp", "flac": "audio/flac", "gif": "image/gif",
    "heic": "image/heic", "ico": "image/vnd.microsoft.icon", "jpe": "image/jpeg", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "m4a": "audio/mp4", "m4v": "video/mp4", "mkv": "video/x-matroska", "mov": "video/quicktime",
    "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "oga": "audio/ogg",
    "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/opus", "pdf": "application/pdf", "png": "image/png",
    "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "wav": "audio/wav", "weba": "audio/webm",
    "webm": "video/webm", "webp": "image/webp",
  ]
}
