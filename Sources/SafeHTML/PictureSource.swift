internal import Foundation

/// The address of a picture, wherever its page hides it.
struct PictureSource {
  /// The address; nil if there is none that can be used.
  var address: String?
  /// Whether a script would load the picture, so that `src` has at most a placeholder.
  var isLazy = false
  /// Whether the address is that of a placeholder.
  var isPlaceholder = false
  /// The reason why a written address cannot be used.
  var loss: SafeHTML.Loss.Reason?

  /// The attributes whose address scripts for lazy loading put into `src`.
  private static let lazy = [
    "data-src", "data-lazy-src", "data-original", "data-lazy", "data-original-src", "data-ll-src", "data-echo",
    "data-actualsrc", "data-img-src", "data-image-src", "data-hi-res-src", "data-pagespeed-lazy-src",
    "data-delayed-url", "data-srcset", "data-lazy-srcset", "data-original-set", "data-lazyload", "data-td-src-property",
    "data-runner-src",
    "data-flickity-lazyload", "data-cfsrc", "data-ezsrc", "data-breeze", "data-sf-src", "data-spai", "data-twic-src",
    "data-defer-src", "data-load-src", "lazy-src", "lazysrc", "lazyload", "datasrc", "file-src", "original-src",
    "real_src", "v-lazy", "data-orig-src",
  ]

  /// The attributes with a second copy of a picture that is in `src` already.
  private static let copies = [
    "srcset", "data-full-url", "data-large-file", "data-orig-file", "data-large_image", "data-medium-file",
    "data-zoom-image", "data-canonical-src", "data-image", "data-url", "xlink:href", "href", "content",
  ]

  /// Attributes that often have another address than that of a picture.
  private static let unsure: Set<String> = ["data-image", "data-url", "href", "content"]

  /// The widths of pictures that readers need at most, in pixels.
  private static let widest = 2048.0

  /// - Parameter isPicture: Whether the element shows nothing but a picture, so that any attribute may have its address.
  init(_ attributes: [MarkupAttribute], base: URL?, isPicture: Bool = true) {
    func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    for name in Self.lazy {
      guard let written = value(name), let address = Self.address(written, of: name, base: base) else { continue }
      self.address = address
      isLazy = true
      return
    }
    if let written = value("src") {
      address = SafeLink.resolve(written, base: base, allowingMail: false)
      if address == nil { loss = SafeHTML.Loss.Reason(written) }
      isPlaceholder = address.map { Self.isPlaceholder($0) } ?? true
      if address != nil, !isPlaceholder { return }
    }
    for name in Self.copies {
      guard let written = value(name) else { continue }
      guard let address = Self.address(written, of: name, base: base) else {
        if name == "srcset", address == nil { loss = loss ?? SafeHTML.Loss.Reason(written) }
        continue
      }
      self.address = address
      isPlaceholder = false
      loss = nil
      return
    }
    guard isPicture, let file = Self.file(in: attributes, base: base) ?? Self.file(in: attributes, true, base: base)
    else { return }
    (address, isLazy, isPlaceholder, loss) = (file, true, false, nil)
  }

  /// Returns the file that an attribute of any name has as its address, or in a source set; nil if there is none.
  ///
  /// - Parameters:
  ///   - isPreview: Whether the name says that the attribute has another picture, such as a small one.
  ///   - kinds: The kinds of files.
  static func file(
    in attributes: [MarkupAttribute], _ isPreview: Bool = false, of kinds: Set<FileKind> = [.picture], base: URL?
  ) -> String? {
    for (name, value) in attributes where !isText(name) && value.utf8.contains(UInt8(ascii: "/")) {
      let hasPreview = previewWords.contains { name.utf8.count <= 64 && name.contains($0) }
      guard hasPreview == isPreview else { continue }
      for reference in [largest(of: value), value.utf8.contains(UInt8(ascii: ",")) ? nil : value].compactMap(\.self) {
        guard let kind = FileKind(of: reference), kinds.contains(kind),
          let address = SafeLink.resolve(reference, base: base, allowingMail: false), !Self.isPlaceholder(address)
        else { continue }
        return address
      }
    }
    return nil
  }

  /// Whether an attribute has words, code or the address of another page.
  static func isText(_ name: String) -> Bool {
    textNames.contains(name) || ["aria-", "on", "xmlns"].contains { name.utf8.starts(with: $0.utf8) }
  }

  private static let textNames: Set<String> = [
    "action", "alt", "background", "class", "classid", "codebase", "content", "data-alt", "data-caption",
    "data-description", "data-title", "href", "id", "itemid", "itemtype", "longdesc", "name", "pluginspage", "style",
    "summary", "title", "type", "usemap",
  ]

  private static let previewWords = [
    "avatar", "blur", "error", "fallback", "icon", "loading", "lowsrc", "lqip", "placeholder", "preview", "small",
    "thumb", "tiny",
  ]

  private static func address(_ written: String, of name: String, base: URL?) -> String? {
    let reference = name.contains("set") ? largest(of: written) : written
    let address = reference.flatMap { SafeLink.resolve($0, base: base, allowingMail: false) }
    // Attributes without a fixed meaning may hold a word, which would be an address relative to the page.
    guard let address, !unsure.contains(name) || FileKind(of: address) == .picture else { return nil }
    return looksLikeAddress(reference ?? "") ? address : nil
  }

  private static func looksLikeAddress(_ text: String) -> Bool {
    text.utf8.contains { "/.".utf8.contains($0) }
  }

  /// Returns the address of the largest picture of a source set (HTML Standard section 4.8.4.2.1) that is not wider than
  /// readers need, or else of the smallest.
  static func largest(of set: String) -> String? {
    var candidates: [(address: String, size: Double)] = []
    for candidate in candidateTexts(set).prefix(64) {
      let parts = candidate.split(maxSplits: 1) { $0 == " " || $0 == "\n" || $0 == "\t" }
      guard let address = parts.first else { continue }
      let descriptor = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespacesAndNewlines) : "1x"
      let number = descriptor.utf8.count <= 16 ? Double(descriptor.dropLast()) ?? 1 : 1
      candidates.append((String(address), descriptor.hasSuffix("w") ? number : number * 640))
    }
    let fitting = candidates.filter { $0.size <= widest }
    return (fitting.max { $0.size < $1.size } ?? candidates.min { $0.size < $1.size })?.address
  }

  /// Splits a source set. A comma ends a candidate before a blank or at the end; those of addresses, as in `data:`, do
  /// not.
  private static func candidateTexts(_ set: String) -> [String] {
    var texts: [String] = []
    var text: [UInt8] = []
    var hasDescriptor = false
    let bytes = Array(set.utf8)
    for (index, byte) in bytes.enumerated() {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0x20
      if byte == UInt8(ascii: ","), next <= 0x20 || hasDescriptor {
        texts.append(String(decoding: text, as: UTF8.self))
        (text, hasDescriptor) = ([], false)
        if texts.count == 64 { return texts }
      } else if byte > 0x20 || !text.isEmpty {
        text.append(byte)
        hasDescriptor = hasDescriptor || byte <= 0x20
      }
    }
    return texts + [String(decoding: text, as: UTF8.self)]
  }

  private static let placeholderWords: Set<String> = [
    "1px", "1x1", "blank", "clear", "dummy", "empty", "gray", "grey", "lazy", "lazyload", "loader", "loading", "lqip",
    "pixel", "placeholder", "preloader", "spacer", "transparent",
  ]

  /// The words that may be beside them.
  private static let neutralWords: Set<String> = [
    "ajax", "animated", "bg", "default", "gif", "icon", "image", "images", "img", "load", "photo", "pic", "picture",
    "spinner", "svg", "thumb", "trans", "white",
  ]

  /// Whether the name of the file is that of a placeholder, such as `ajax-loader.gif` and `blank_600x400.png`. Of
  /// `lazy-sunday.jpg` it is not.
  private static func isPlaceholder(_ address: String) -> Bool {
    let path = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let file =
      path.suffix(80).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? ""[...].utf8
    let name = String(decoding: file, as: UTF8.self).lowercased()
    if ["s.gif", "t.gif", "x.gif"].contains(name) { return true }
    let words = name.split(separator: ".", omittingEmptySubsequences: false).dropLast().joined(separator: "-")
      .split { !$0.isLetter && !$0.isNumber }.map(String.init)
    return words.contains { placeholderWords.contains($0) }
      && words.allSatisfy { word in
        placeholderWords.contains(word) || neutralWords.contains(word) || word.allSatisfy { "0123456789x".contains($0) }
      }
  }

  /// Returns the address in the background of a style; nil if there is none.
  static func background(of attributes: [MarkupAttribute], base: URL?) -> String? {
    for name in ["data-bg", "data-background", "data-background-image", "data-bg-image", "data-bgset"] {
      guard let written = attributes.first(where: { $0.name == name })?.value else { continue }
      if let address = address(unwrapped(written), of: name, base: base) { return address }
    }
    guard let style = attributes.first(where: { $0.name == "style" })?.value, style.utf8.count <= 8192,
      let property = style.range(of: "background", options: .caseInsensitive),
      let url = style.range(of: "url(", options: .caseInsensitive, range: property.upperBound..<style.endIndex)
    else { return nil }
    return address(unwrapped(String(style[url.lowerBound...])), of: "style", base: base)
  }

  /// Removes `url(…)` and quotes.
  private static func unwrapped(_ value: String) -> String {
    guard value.utf8.count <= 8192, let open = value.range(of: "url(", options: .caseInsensitive) else { return value }
    let inner = value[open.upperBound...].prefix { $0 != ")" }
    return inner.trimmingCharacters(in: CharacterSet(charactersIn: "\"' \n\t"))
  }
}
