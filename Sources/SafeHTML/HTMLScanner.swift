internal import CLibXML2

/// A receiver of the parts of HTML, in the order of the source. Names are in lower case, and entities are decoded.
package protocol HTMLBuilder: AnyObject {
  func start(_ name: String, _ attributes: [(name: String, value: String)])
  func end(_ name: String)
  func characters(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// Parses HTML with libxml2, and passes its parts to a builder in order. No tree is built, so that deep nesting does not
/// overflow the stack.
package final class HTMLScanner {
  /// The maximum nesting depth. From there on only text, pictures and line breaks are read; real pages stay below a
  /// hundred.
  static let maximumDepth = 512

  private static let parserIsReady: Void = xmlInitParser()

  private let context: htmlParserCtxtPtr
  private unowned let builder: any HTMLBuilder
  private var maximumAttributeCount = 0
  /// The number of elements that libxml2 has open, including void elements that it does not recognise. It searches all
  /// of them for each end tag.
  private var depth = 0
  /// The offset in the source at which the markup is nested too deeply.
  private var cut: Int?

  private init?(builder: any HTMLBuilder) {
    _ = Self.parserIsReady
    guard let context = htmlNewParserCtxt() else { return nil }
    self.context = context
    self.builder = builder
  }

  deinit {
    htmlFreeParserCtxt(context)
  }

  /// Parses a fragment or document in UTF-8.
  ///
  /// - Parameters:
  ///   - source: The markup. It is truncated after `SafeHTML.maximumSourceBytes`.
  ///   - builder: The receiver. It may get more starts than ends.
  /// - Returns: Whether elements are missing, because the markup is nested too deeply.
  @discardableResult
  package static func scan(_ source: String, into builder: any HTMLBuilder) -> Bool {
    scan(Array(source.utf8.prefix(SafeHTML.maximumSourceBytes)), into: builder)
  }

  /// Parses UTF-8.
  @discardableResult
  static func scan(_ source: [UInt8], into builder: any HTMLBuilder) -> Bool {
    guard let scanner = HTMLScanner(builder: builder) else { return false }
    let bytes = prepared(source)
    scanner.run(bytes)
    guard let cut = scanner.cut else { return false }
    HTMLScanner(builder: builder)?.run(FlatMarkup.flattened(bytes[min(max(cut, 0), bytes.count)...]))
    return true
  }

  /// Returns the greatest number of attributes that libxml2 finds in a tag. Repeated names count once.
  package static func maximumAttributeCount(in source: [UInt8]) -> Int {
    let builder = FragmentBuilder(LinkContext(base: nil, address: nil))
    guard let scanner = HTMLScanner(builder: builder) else { return 0 }
    scanner.run(source)
    return scanner.maximumAttributeCount
  }

  /// Prepares a source for the parser: line ends become LF, NUL is removed because the parser would stop at it, unknown
  /// character names are replaced, and each tag keeps at most `maximumAttributes`.
  private static func prepared(_ source: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count)
    var afterReturn = false
    for byte in source {
      let isReturn = byte == UInt8(ascii: "\r")
      if byte != 0, !(afterReturn && byte == UInt8(ascii: "\n")) {
        bytes.append(isReturn ? UInt8(ascii: "\n") : byte)
      }
      afterReturn = isReturn
    }
    return AttributeLimit.applied(
      to: closed(HTMLEntities.replacingNames(in: bytes)), maximum: SafeHTML.maximumAttributes)
  }

  /// Replaces `<wbr>` by `<wbr/>`. The parser does not know that the element is void, and would keep it open.
  private static func closed(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var rest = bytes[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      output += rest[...start]
      rest = rest[(start + 1)...]
      let name = rest.prefix(3)
      guard name.elementsEqual("wbr".utf8, by: { $0 | 0x20 == $1 }), rest.dropFirst(3).first == UInt8(ascii: ">") else {
        continue
      }
      output += name + "/>".utf8
      rest = rest.dropFirst(4)
    }
    return output + rest
  }

  private static let opening = Array("<html><body>".utf8)

  /// - Parameter source: UTF-8 without NUL.
  private func run(_ source: [UInt8]) {
    context.pointee.sax.pointee = Self.handler
    context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
    // Inside a body the parser adds no paragraph around bare text.
    let document = Self.opening + source
    let options = HTML_PARSE_RECOVER.rawValue | HTML_PARSE_NOERROR.rawValue | HTML_PARSE_NOWARNING.rawValue
    let strict = HTML_PARSE_NONET.rawValue | HTML_PARSE_IGNORE_ENC.rawValue
    withExtendedLifetime(self) {
      document.withUnsafeBytes { buffer in
        let characters = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        // "htmlCtxtReadMemory: returns the resulting document tree". With a custom handler there is none.
        let tree = htmlCtxtReadMemory(
          context, characters, Int32(clamping: buffer.count), nil, "UTF-8", Int32(options | strict))
        if let tree { xmlFreeDoc(tree) }
      }
    }
  }

  private func start(_ name: UnsafePointer<xmlChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?) {
    depth += 1
    if depth > Self.maximumDepth {
      if let input = context.pointee.input {
        cut = Int(input.pointee.consumed) + (input.pointee.cur - input.pointee.base) - Self.opening.count
      }
      xmlStopParser(context)
      return
    }
    var pairs: [(name: String, value: String)] = []
    var next = attributes
    while let pair = next, let key = pair[0] {
      pairs.append((String(cString: key).lowercased(), pair[1].map { String(cString: $0) } ?? ""))
      next = pair + 2
    }
    maximumAttributeCount = max(maximumAttributeCount, pairs.count)
    builder.start(Self.name(name), pairs)
  }

  private func end(_ name: UnsafePointer<xmlChar>) {
    // The elements around the rest stay open.
    guard cut == nil else { return }
    depth -= 1
    builder.end(Self.name(name))
  }

  /// The name in lower case. Journals write MathML with the prefix of JATS.
  private static func name(_ written: UnsafePointer<xmlChar>) -> String {
    let name = String(cString: written).lowercased()
    return name.hasPrefix("mml:") ? String(name.dropFirst(4)) : name
  }

  private static func scanner(_ context: UnsafeMutableRawPointer) -> HTMLScanner {
    Unmanaged<HTMLScanner>.fromOpaque(context).takeUnretainedValue()
  }

  private static var handler: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = XML_SAX2_MAGIC
    handler.startElement = { context, name, attributes in
      guard let context, let name else { return }
      HTMLScanner.scanner(context).start(name, attributes)
    }
    handler.endElement = { context, name in
      guard let context, let name else { return }
      HTMLScanner.scanner(context).end(name)
    }
    let characters: charactersSAXFunc = { context, bytes, count in
      guard let context, let bytes, count > 0 else { return }
      HTMLScanner.scanner(context).builder.characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
    handler.characters = characters
    handler.ignorableWhitespace = characters
    handler.cdataBlock = characters
    return handler
  }
}
