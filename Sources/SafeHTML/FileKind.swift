/// The kind of a file, by the extension of its address.
enum FileKind {
  case picture, audio, video

  init?(of address: String) {
    let path = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }.suffix(8)
    let name = String(decoding: path, as: UTF8.self).lowercased()
    guard let point = name.lastIndex(of: ".") else { return nil }
    switch name[name.index(after: point)...] {
    case "avif", "bmp", "gif", "heic", "jpe", "jpeg", "jpg", "png", "svg", "tif", "tiff", "webp": self = .picture
    case "aac", "flac", "m4a", "mp3", "oga", "ogg", "opus", "wav", "weba": self = .audio
    case "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm": self = .video
    default: return nil
    }
  }
}
