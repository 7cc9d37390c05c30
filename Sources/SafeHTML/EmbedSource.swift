internal import Foundation

/// The addresses of the players, documents, sounds and films that an element embeds. They become links.
struct EmbedSource {
  struct Address {
    var url: String
    var label: String?
  }

  var addresses: [Address] = []
  /// The sound or film that the element plays.
  var recording: SafeHTML.Recording?
  /// Whether a link is needed only if the element is empty otherwise.
  var isOptional = false
  /// The reason why the written address cannot be used.
  var loss: SafeHTML.Loss.Reason?

  private var title: String?
  private var width: Int?
  private var height: Int?

  private static let frames: Set<String> = ["bgsound", "embed", "frame", "iframe", "portal", "fencedframe"]
  private static let players: Set<String> = ["audio", "video"]
  private static let sources = [
    "src", "data-src", "data-lazy-src", "data-lazy", "data-original", "data-litespeed-src", "data-cookieblock-src",
    "data-cmp-src", "data-consent-src", "data-ll-src", "data-embed-src", "data-iframe-src", "data-url",
  ]
  /// The attributes in which any element may have the address of what a script would show there.
  private static let hidden = [
    "data-href", "data-oembed-url", "data-embed-url", "data-video-url", "data-video-src", "data-audio-url",
    "data-audio-src", "data-permalink", "data-instgrm-permalink", "data-iframe-src", "data-src", "data-url",
    "data-lazy-src", "data-mp3", "data-mp4", "data-file", "data-pin-url", "cite",
  ]

  /// Reads an element; nil if it embeds nothing.
  init?(_ name: String, _ attributes: [MarkupAttribute], base: URL?) {
    guard !attributes.isEmpty || Self.players.contains(name) else { return nil }
    let isUnknown = !ElementRules.isKnown(name) && !ElementRules.dropped.contains(name)
    let names: [String]
    switch name {
    case _ where Self.frames.contains(name) || Self.players.contains(name): names = Self.sources
    case "object": names = ["data"] + Self.sources
    case "source", "track": names = Self.sources
    case "param":
      let key = attributes.first { $0.name == "name" }?.value.utf8.prefix(16).map { $0 } ?? []
      let names = ["movie", "src", "url", "filename", "file"]
      guard names.contains(String(decoding: key, as: UTF8.self).lowercased()) else { return nil }
      self.read(attributes, ["value"], base)
      guard !addresses.isEmpty else { return nil }
      return
    case "script":
      self.read(attributes, ["src"], base)
      guard let url = addresses.first?.url, url.hasPrefix("https://gist.github.com/"), url.utf8.contains(0x2E) else {
        return nil
      }
      addresses = [Address(url: url.replacing(".js", with: ""), label: nil)]
      return
    case _ where isUnknown: names = Self.sources + ["href", "url"] + Self.hidden
    default: names = []
    }
    if !names.isEmpty {
      if Self.isHidden(attributes) { return nil }
      self.read(attributes, names, base)
      let isDocument = Self.frames.contains(name) || Self.players.contains(name) || name == "object"
      if addresses.isEmpty, isDocument { readAnyAddress(attributes) }
    } else {
      isOptional = true
      self.read(attributes, Self.hidden, base)
      loss = nil
      let kinds: Set<FileKind> = [.picture, .audio, .video]
      if addresses.isEmpty, let url = PictureSource.file(in: attributes, of: kinds, base: base) {
        addresses = [Address(url: url, label: label(attributes))]
      }
    }
    if addresses.isEmpty, let url = Self.provided(name, attributes) {
      addresses = [Address(url: url, label: label(attributes))]
    }
    if isUnknown || isOptional { loss = nil }
    if addresses.isEmpty, loss == nil, !Self.players.contains(name) { return nil }
    readRecording(name, attributes)
  }

  private mutating func read(_ attributes: [MarkupAttribute], _ names: [String], _ base: URL?) {
    for name in names {
      guard let written = attributes.first(where: { $0.name == name })?.value,
        !written.isEmpty, !written.utf8.starts(with: "#".utf8)
      else { continue }
      guard let url = SafeLink.resolve(written, base: base, allowingMail: false) else {
        if !written.utf8.starts(with: "about:".utf8) { loss = loss ?? SafeHTML.Loss.Reason(written) }
        continue
      }
      addresses = [Address(url: url, label: label(attributes))]
      loss = nil
      return
    }
  }

  /// Reads the absolute address in an attribute of any name, as scripts for consent and lazy loading write it.
  private mutating func readAnyAddress(_ attributes: [MarkupAttribute]) {
    let written = attributes.first { name, value in
      let isAbsolute = ["http://", "https://", "//"].contains { value.utf8.starts(with: $0.utf8) }
      return isAbsolute && !PictureSource.isText(name) && FileKind(of: value) != .picture
    }
    if let written { read([written], [written.name], nil) }
  }

  private func label(_ attributes: [MarkupAttribute]) -> String? {
    for name in ["title", "aria-label", "label", "data-title", "alt"] {
      guard let value = attributes.first(where: { $0.name == name })?.value, value.utf8.count <= 1024 else { continue }
      let line = ElementRules.line(value)
      if !line.isEmpty { return line }
    }
    return nil
  }

  /// Adds an element inside of a player or object.
  mutating func add(_ inner: EmbedSource) {
    addresses += inner.addresses
    loss = loss ?? inner.loss
    guard recording == nil, var first = inner.recording else { return }
    (first.title, first.width, first.height) = (title ?? first.title, width, height)
    recording = first
  }

  private mutating func readRecording(_ name: String, _ attributes: [MarkupAttribute]) {
    func number(_ name: String) -> Int? {
      attributes.first { $0.name == name }.flatMap { ElementRules.number($0.value, in: 1...99_999) }.flatMap { Int($0) }
    }
    (title, width, height) = (label(attributes), number("width"), number("height"))
    guard let address = addresses.first else { return }
    let type = attributes.first { $0.name == "type" }?.value ?? ""
    let isVideo: Bool
    switch (FileKind(of: address.url), name) {
    case (_, "video"): isVideo = true
    case (_, "audio"), (_, "bgsound"): isVideo = false
    case (.video, _): isVideo = true
    case (.audio, _): isVideo = false
    case (nil, _) where name.hasSuffix("-video"): isVideo = true
    case (nil, _) where name.hasSuffix("-audio"): isVideo = false
    case (nil, "source") where type.utf8.starts(with: "video/".utf8): isVideo = true
    case (nil, "source") where type.utf8.starts(with: "audio/".utf8): isVideo = false
    default: return
    }
    recording = SafeHTML.Recording(
      url: address.url, type: type, isVideo: isVideo, title: title, width: width, height: height)
  }

  /// Whether an element has the size of a tracking pixel.
  static func isHidden(_ attributes: [MarkupAttribute]) -> Bool {
    func isTiny(_ name: String) -> Bool {
      attributes.first { $0.name == name }.map { ["0", "1", "0px", "1px"].contains($0.value) } == true
    }
    return isTiny("width") && isTiny("height")
  }

  // MARK: Providers

  private static let identifiers = [
    "videoid", "video-id", "data-videoid", "data-video-id", "data-video_id", "data-youtube-id", "data-youtube",
    "data-vimeo-id", "data-tweetid", "data-tweet-id", "data-shortcode", "data-id", "data-embed", "data-trackid",
    "shortcode", "tweetid", "data-video",
  ]

  private static let providers = [
    ("youtube", "https://www.youtube.com/watch?v="), ("vimeo", "https://vimeo.com/"),
    ("dailymotion", "https://www.dailymotion.com/video/"), ("twitter", "https://twitter.com/i/status/"),
    ("tweet", "https://twitter.com/i/status/"), ("instagram", "https://www.instagram.com/p/"),
    ("soundcloud", "https://api.soundcloud.com/tracks/"), ("tiktok", "https://www.tiktok.com/embed/v2/"),
  ]

  /// Returns the address of what an element names by provider and id, as `<lite-youtube videoid="x">` does.
  private static func provided(_ name: String, _ attributes: [MarkupAttribute]) -> String? {
    for identifier in identifiers {
      guard let id = attributes.first(where: { $0.name == identifier })?.value, 3...64 ~= id.utf8.count,
        id.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
      else { continue }
      let kind = attributes.first { $0.name == "class" && $0.value.utf8.count <= 512 }?.value.lowercased() ?? ""
      let description = name + " " + identifier + " " + kind
      if let provider = providers.first(where: { description.contains($0.0) }) { return provider.1 + id }
    }
    return nil
  }
}
