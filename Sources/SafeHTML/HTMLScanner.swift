internal import CLibXML2

/// Parses HTML with libxml2, and passes its parts to a builder in order. No tree is built, so that deep nesting does not
/// overflow the stack.
package final class HTMLScanner {
  /// The maximum nesting depth. Parsing stops where the markup is deeper; real pages stay below a hundred.
  static let maximumDepth = 512

  private static let parserIsReady: Void = xmlInitParser()

  private let context: htmlParserCtxtPtr
  private unowned let builder: FragmentBuilder
  private var maximumAttributeCount = 0
  /// The number of elements that libxml2 has open, including void elements that it does not recognise. It searches all
  /// of them for each end tag.
  private var depth = 0

  private init?(builder: FragmentBuilder) {
    _ = Self.parserIsReady
    guard let context = htmlNewParserCtxt() else { return nil }
    self.context = context
    self.builder = builder
  }

  deinit {
    htmlFreeParserCtxt(context)
  }

  /// Parses a fragment or document in UTF-8 without NUL.
  static func scan(_ source: [UInt8], into builder: FragmentBuilder) {
    guard let scanner = HTMLScanner(builder: builder) else { return }
    scanner.run(source)
    builder.finish()
  }

  /// Returns the greatest number of attributes that libxml2 finds in a tag. Repeated names count once.
  package static func maximumAttributeCount(in source: [UInt8]) -> Int {
    let builder = FragmentBuilder(base: nil)
    guard let scanner = HTMLScanner(builder: builder) else { return 0 }
    scanner.run(source)
    return scanner.maximumAttributeCount
  }

  private func run(_ source: [UInt8]) {
    context.pointee.sax.pointee = Self.handler
    context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
    // Inside a body the parser adds no paragraph around bare text.
    let document = Array("<html><body>".utf8) + source
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
    builder.start(String(cString: name).lowercased(), pairs)
  }

  private func end(_ name: UnsafePointer<xmlChar>) {
    depth -= 1
    builder.end(String(cString: name).lowercased())
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
