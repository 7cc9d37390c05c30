internal import CLibXML2

/// Reads XML in UTF-8, whatever it says of itself, from pieces of any size with libxml2, in bounded memory.
///
/// Nothing is fetched, and entities that a document declares are unknown, so they can neither multiply nor read files.
/// The names of HTML's entities are understood, because feeds use them without declaring them.
final class XMLPushParser {
  /// Bytes handed over at once: libxml2 keeps what it has not consumed, and gives up above 10 MB of it.
  private static let pieceSize = 64 * 1024
  /// Elements within each other.
  private static let maximumDepth = 256
  private static let parserIsReady: Void = xmlInitParser()

  private let document: FeedDocument
  private let precedingLines: Int
  private var context: xmlParserCtxtPtr?
  /// What `getEntity` answers with; its text is at most four bytes of UTF-8 and a NUL.
  private let entity = UnsafeMutablePointer<xmlEntity>.allocate(capacity: 1)
  private let entityText = UnsafeMutablePointer<xmlChar>.allocate(capacity: 5)
  private var depth = 0
  private var firstError: (line: Int, message: String)?
  /// Why reading cannot go on, with the line.
  private(set) var failure: (line: Int, message: String)?

  /// - Parameter firstLine: The number of the line the document starts with.
  init(document: FeedDocument, firstLine: Int) {
    self.document = document
    precedingLines = firstLine - 1
    entityText.initialize(repeating: 0, count: 5)
    entity.initialize(to: xmlEntity())
    entity.pointee.etype = XML_INTERNAL_PREDEFINED_ENTITY
    entity.pointee.content = entityText
  }

  deinit {
    if let context {
      // "The parsed document in ctxt->myDoc is not freed": one is made, without being asked for, to hold the entities
      // of a document type.
      if let document = context.pointee.myDoc { xmlFreeDoc(document) }
      xmlFreeParserCtxt(context)
    }
    entity.deallocate()
    entityText.deallocate()
  }

  /// Parses more of the document.
  ///
  /// - Parameter bytes: The first piece has at least four bytes, by which libxml2 tells the encoding, unless the whole
  ///   document is shorter.
  func feed(_ bytes: some Collection<UInt8>) {
    var rest = bytes[...]
    if context == nil {
      start(Array(rest.prefix(4)))
      rest = rest.dropFirst(4)
    }
    while !rest.isEmpty, failure == nil {
      parse(Array(rest.prefix(Self.pieceSize)), isLast: false)
      rest = rest.dropFirst(Self.pieceSize)
    }
  }

  /// Tells the parser that the document ends here.
  func finish() {
    if failure == nil { parse([], isLast: true) }
  }

  private func start(_ prefix: [UInt8]) {
    _ = Self.parserIsReady
    var handler = Self.handler
    let user = Unmanaged.passUnretained(self).toOpaque()
    context = prefix.withUnsafeBytes { buffer in
      let characters = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      return xmlCreatePushParserCtxt(&handler, user, characters, Int32(buffer.count), nil)
    }
    guard let context else {
      failure = (precedingLines + 1, "no memory for a parser")
      return
    }
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
  }

  private func parse(_ piece: [UInt8], isLast: Bool) {
    guard let context else { return }
    withExtendedLifetime(self) {
      piece.withUnsafeBytes { buffer in
        let characters = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        _ = xmlParseChunk(context, characters, Int32(buffer.count), isLast ? 1 : 0)
      }
    }
    // The returned code counts harmless errors too, such as a prefix that is not declared.
    if failure == nil, context.pointee.wellFormed == 0 {
      failure = firstError ?? (line, "is not well-formed XML")
    }
  }

  /// Remembers the first error that ends the reading; those that follow from it depend on how the bytes are cut.
  private func note(_ error: xmlError) {
    guard firstError == nil, error.level == XML_ERR_FATAL else { return }
    // At the edge of a piece a bad byte shows as text that cannot be got past, which is an "internal error".
    let codes = [XML_ERR_INVALID_ENCODING, XML_ERR_INVALID_CHAR, XML_ERR_INTERNAL_ERROR]
    let isEncoding = codes.contains { Int32($0.rawValue) == error.code }
    let reason = error.message.map { PlainText.line(String(cString: $0)) } ?? ""
    let message = isEncoding ? "has bytes or characters that XML does not allow" : "is not well-formed XML: \(reason)"
    firstError = (max(1, Int(error.line)) + precedingLines, message)
  }

  private func stop(_ message: String) {
    failure = failure ?? (line, message)
    xmlStopParser(context)
  }

  private var line: Int { precedingLines + (context.map { Int(xmlSAX2GetLineNumber($0)) } ?? 1) }

  // MARK: Callbacks

  private typealias Text = UnsafePointer<xmlChar>

  private func startElement(
    _ name: Text, _ prefix: Text?, _ uri: Text?, _ count: Int, _ values: UnsafeMutablePointer<Text?>?
  ) {
    guard failure == nil else { return }
    depth += 1
    if depth > Self.maximumDepth { return stop("has more than \(Self.maximumDepth) elements within each other") }
    var attributes: [FeedAttribute] = []
    for index in 0..<count {
      // "localname/prefix/URI/value/end" for each attribute, the value not terminated.
      guard let field = values.map({ $0 + index * 5 }), let name = field[0], let start = field[3], let end = field[4]
      else { continue }
      let space = FeedNamespace(uri: field[2].map { String(cString: $0) }, prefix: field[1].map { String(cString: $0) })
      let value = String(decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
      attributes.append(FeedAttribute(space: space, name: String(cString: name), value: value))
    }
    let space = FeedNamespace(uri: uri.map { String(cString: $0) }, prefix: prefix.map { String(cString: $0) })
    let error = document.start(FeedName(space: space, local: String(cString: name)), attributes, line: line)
    if let error { stop(error) }
  }

  private func endElement() {
    guard failure == nil else { return }
    depth -= 1
    document.end()
  }

  private func characters(_ bytes: UnsafeBufferPointer<xmlChar>) {
    if failure == nil { document.characters(bytes) }
  }

  /// "Get an entity by name": as one of the predefined kind, whose text is delivered and not parsed.
  private func entity(named name: Text) -> xmlEntityPtr? {
    guard let known = htmlEntityLookup(name), let scalar = Unicode.Scalar(known.pointee.value) else { return nil }
    for (offset, byte) in (Array(String(scalar).utf8) + [0]).enumerated() { entityText[offset] = byte }
    return entity
  }

  private static func parser(_ context: UnsafeMutableRawPointer) -> XMLPushParser {
    Unmanaged<XMLPushParser>.fromOpaque(context).takeUnretainedValue()
  }

  private static var handler: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = XML_SAX2_MAGIC
    handler.startElementNs = { context, name, prefix, uri, _, _, count, _, attributes in
      guard let context, let name else { return }
      XMLPushParser.parser(context).startElement(name, prefix, uri, Int(count), attributes)
    }
    handler.endElementNs = { context, _, _, _ in
      guard let context else { return }
      XMLPushParser.parser(context).endElement()
    }
    let characters: charactersSAXFunc = { context, bytes, count in
      guard let context, let bytes, count > 0 else { return }
      XMLPushParser.parser(context).characters(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
    handler.characters = characters
    handler.ignorableWhitespace = characters
    handler.cdataBlock = characters
    handler.getEntity = { context, name in
      guard let context, let name else { return nil }
      return XMLPushParser.parser(context).entity(named: name)
    }
    handler.serror = { context, error in
      guard let context, let error else { return }
      XMLPushParser.parser(context).note(error.pointee)
    }
    return handler
  }
}
