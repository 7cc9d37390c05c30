internal import CLibXML2
internal import SafeHTML

/// Reads XML in UTF-8, whatever it says of itself, from pieces of any size with libxml2, in bounded memory.
///
/// Nothing is fetched, and entities that a document declares are refused, so they can neither multiply nor read files.
/// The names of HTML's entities are understood, because feeds use them without declaring them.
final class XMLPushParser {
  /// Elements within each other.
  private static let maximumDepth = 256
  /// In one start tag. libxml2 compares each attribute with all before it.
  private static let maximumAttributes = 128
  /// Declared by elements within each other. libxml2 looks through all of them for the prefix of each name.
  private static let maximumNamespaces = 256
  private static let entityCapacity = 9
  private static let parserIsReady: Void = xmlInitParser()

  /// The elements around the entries that are open, outermost first.
  private(set) var structure: [XMLStartTag]
  /// The last place outside of entries or right at the start of one: how many bytes are before it, and its line.
  private(set) var anchor: (offset: Int, line: Int)
  /// Why reading cannot go on.
  private(set) var failure: XMLFailure?

  private let document: FeedDocument
  private let firstLine: Int
  /// What comes before the first byte given: the start tags of elements that the document has open already.
  private let preface: [UInt8]
  private let reopened: Int
  private var context: xmlParserCtxtPtr?
  /// What `getEntity` answers with; its text is at most two characters of UTF-8 and a NUL.
  private let entity = UnsafeMutablePointer<xmlEntity>.allocate(capacity: 1)
  private let entityText = UnsafeMutablePointer<xmlChar>.allocate(capacity: XMLPushParser.entityCapacity)
  private var depth = 0
  private var attributeLimit = AttributeLimit(maximum: XMLPushParser.maximumAttributes, syntax: .xml)
  /// How many namespaces each open element declares.
  private var declaredNamespaces: [Int] = []
  private var namespaceCount = 0
  private var firstError: XMLFailure?

  /// - Parameters:
  ///   - firstLine: The number of the line the input starts with.
  ///   - structure: Where the input starts: with an entry inside these elements, or with the document.
  init(document: FeedDocument, firstLine: Int, within structure: [XMLStartTag] = []) {
    self.document = document
    self.firstLine = firstLine
    self.structure = structure
    reopened = structure.count
    preface = structure.flatMap { Array($0.text.utf8) }
    // The entry with which an input starts is not to be found again.
    anchor = (structure.isEmpty ? 0 : 1, firstLine)
    entityText.initialize(repeating: 0, count: Self.entityCapacity)
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
  /// - Parameter bytes: Not more than some KiB: libxml2 keeps what it has not consumed, and gives up above 10 MB of it.
  ///   The first piece has at least four bytes, unless the whole document is shorter.
  func feed(_ bytes: some Collection<UInt8>) {
    if context == nil { start() }
    if failure == nil { parse(Array(bytes), isLast: false) }
  }

  /// Tells the parser that the document ends here.
  func finish() {
    if failure == nil { parse([], isLast: true) }
  }

  private func start() {
    _ = Self.parserIsReady
    var handler = Self.handler
    let user = Unmanaged.passUnretained(self).toOpaque()
    context = xmlCreatePushParserCtxt(&handler, user, nil, 0, nil)
    guard let context else {
      failure = XMLFailure(line: firstLine, message: "no memory for a parser")
      return
    }
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
    context.pointee.input.pointee.line = Int32(clamping: firstLine)
    if !preface.isEmpty { parse(preface, isLast: false) }
  }

  private func parse(_ piece: [UInt8], isLast: Bool) {
    guard let context else { return }
    let accepted = piece.prefix { attributeLimit.accepts($0) }
    withExtendedLifetime(self) {
      accepted.withUnsafeBytes { buffer in
        let characters = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
        _ = xmlParseChunk(context, characters, Int32(buffer.count), isLast ? 1 : 0)
      }
    }
    if accepted.count < piece.count {
      stop("has a start tag with more than \(Self.maximumAttributes) attributes")
      return
    }
    // The returned code counts harmless errors too, such as a prefix that is not declared.
    if failure == nil, context.pointee.wellFormed == 0 {
      failure = firstError ?? XMLFailure(line: line, message: "is not well-formed XML")
    }
  }

  /// Remembers the first error that ends the reading; those that follow from it depend on how the bytes are cut.
  private func note(_ error: xmlError) {
    guard firstError == nil, error.level == XML_ERR_FATAL else { return }
    if Int32(XML_ERR_DOCUMENT_END.rawValue) == error.code, depth > 0 {
      // How far libxml2 has come in what is not complete depends on the pieces.
      firstError = XMLFailure(line: anchor.line, message: "is not well-formed XML: it ends in the middle")
      return
    }
    // At the edge of a piece a bad character shows as text that cannot be got past, which is an "internal error".
    let codes = [XML_ERR_INVALID_ENCODING, XML_ERR_INVALID_CHAR, XML_ERR_INTERNAL_ERROR]
    let isEncoding = codes.contains { Int32($0.rawValue) == error.code }
    let reason = error.message.map { PlainText.line(String(cString: $0)) } ?? ""
    let message = isEncoding ? "has bytes or characters that XML does not allow" : "is not well-formed XML: \(reason)"
    firstError = XMLFailure(line: max(1, Int(error.line)), message: message)
  }

  private func stop(_ message: String) {
    failure = failure ?? XMLFailure(line: line, message: message)
    xmlStopParser(context)
  }

  private var line: Int { context.map { Int(xmlSAX2GetLineNumber($0)) } ?? firstLine }

  private func setAnchor() {
    anchor = (xmlByteConsumed(context) - preface.count, line)
  }

  // MARK: Callbacks

  private typealias Text = UnsafePointer<xmlChar>

  private func startElement(
    _ name: Text, _ prefix: Text?, _ uri: Text?, _ declaredCount: Int, _ declared: UnsafeMutablePointer<Text?>?,
    _ count: Int, _ values: UnsafeMutablePointer<Text?>?
  ) {
    guard failure == nil else { return }
    depth += 1
    declaredNamespaces.append(declaredCount)
    namespaceCount += declaredCount
    if namespaceCount > Self.maximumNamespaces {
      return stop("declares more than \(Self.maximumNamespaces) namespaces within each other")
    }
    if depth <= reopened { return }
    if depth > Self.maximumDepth { return stop("has more than \(Self.maximumDepth) elements within each other") }
    let prefix = prefix.map { String(cString: $0) }
    let local = String(cString: name)
    let space = FeedNamespace(uri: uri.map(Self.namespace), prefix: prefix)
    let qualifiedName = (prefix.map { $0 + ":" } ?? "") + local
    let error = document.start(
      FeedName(space: space, local: local), Self.attributes(values, count), tag: qualifiedName, line: line)
    if let error { return stop(error) }
    if document.structure > structure.count {
      structure.append(XMLStartTag(name: qualifiedName, namespaces: Self.namespaces(declared, declaredCount)))
    }
    if document.isAtEdge { setAnchor() }
  }

  /// "localname/prefix/URI/value/end" for each attribute, the value not terminated.
  private static func attributes(_ values: UnsafeMutablePointer<Text?>?, _ count: Int) -> [FeedAttribute] {
    (0..<count).compactMap { index in
      guard let field = values.map({ $0 + index * 5 }), let name = field[0], let start = field[3], let end = field[4]
      else { return nil }
      let space = FeedNamespace(uri: field[2].map(Self.namespace), prefix: field[1].map { String(cString: $0) })
      let value = String(decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
      return FeedAttribute(space: space, name: String(cString: name), value: value)
    }
  }

  /// The name of a namespace, of which a longer one than all that are known is cut: every element repeats it.
  private static func namespace(_ uri: Text) -> String {
    String(decoding: UnsafeBufferPointer(start: uri, count: Self.length(of: uri, atMost: 128)), as: UTF8.self)
  }

  private static func length(of text: Text, atMost limit: Int) -> Int {
    (0..<limit).first { text[$0] == 0 } ?? limit
  }

  /// "Pairs prefix/URI".
  private static func namespaces(
    _ values: UnsafeMutablePointer<Text?>?, _ count: Int
  ) -> [(prefix: String?, uri: String)] {
    (0..<count).compactMap { index in
      guard let field = values.map({ $0 + index * 2 }), let uri = field[1] else { return nil }
      return (field[0].map { String(cString: $0) }, String(cString: uri))
    }
  }

  private func endElement() {
    guard failure == nil else { return }
    depth -= 1
    namespaceCount -= declaredNamespaces.popLast() ?? 0
    document.end()
    if document.structure < structure.count { structure.removeLast() }
    if document.isAtEdge { setAnchor() }
  }

  private func characters(_ bytes: UnsafeBufferPointer<xmlChar>, isCDATA: Bool) {
    if failure == nil { document.characters(bytes, isCDATA: isCDATA) }
  }

  /// "Get an entity by name": as one of the predefined kind, whose text is delivered and not parsed.
  private func entity(named name: Text) -> xmlEntityPtr? {
    let scalar = htmlEntityLookup(name).flatMap { Unicode.Scalar($0.pointee.value) }
    let known = scalar.map { String($0) } ?? HTMLEntities.characters(named: String(cString: name))
    guard let known, known.utf8.count < Self.entityCapacity else {
      // Where a document type names other files, libxml2 would leave the entity out without a word. One that is only
      // mentioned in the declaration of another does no harm.
      let name = String(cString: name).prefix(64)
      if depth > 0, failure == nil {
        failure = XMLFailure(line: line, message: "uses the entity \"\(name)\", which is not known")
      }
      return nil
    }
    for (offset, byte) in (Array(known.utf8) + [0]).enumerated() { entityText[offset] = byte }
    return entity
  }

  private static func parser(_ context: UnsafeMutableRawPointer) -> XMLPushParser {
    Unmanaged<XMLPushParser>.fromOpaque(context).takeUnretainedValue()
  }

  private static var handler: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = XML_SAX2_MAGIC
    handler.startElementNs = { context, name, prefix, uri, declaredCount, declared, count, _, attributes in
      guard let context, let name else { return }
      XMLPushParser.parser(context).startElement(
        name, prefix, uri, Int(declaredCount), declared, Int(count), attributes)
    }
    handler.endElementNs = { context, _, _, _ in
      guard let context else { return }
      XMLPushParser.parser(context).endElement()
    }
    let characters: charactersSAXFunc = { context, bytes, count in
      guard let context, let bytes, count > 0 else { return }
      XMLPushParser.parser(context).characters(UnsafeBufferPointer(start: bytes, count: Int(count)), isCDATA: false)
    }
    handler.characters = characters
    handler.ignorableWhitespace = characters
    handler.cdataBlock = { context, bytes, count in
      guard let context, let bytes, count > 0 else { return }
      XMLPushParser.parser(context).characters(UnsafeBufferPointer(start: bytes, count: Int(count)), isCDATA: true)
    }
    handler.attributeDecl = { context, _, _, _, _, _, values in
      xmlFreeEnumeration(values)
      guard let context else { return }
      // Each element would get its default values once more.
      XMLPushParser.parser(context).stop("declares attributes in its document type")
    }
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

/// Why XML cannot be read on, and where.
struct XMLFailure {
  var line: Int
  var message: String
}

/// The start tag of an element, with no more than it takes to understand what is inside.
struct XMLStartTag {
  /// With prefix.
  var name: String
  var namespaces: [(prefix: String?, uri: String)]

  var text: String {
    let declarations = namespaces.map { prefix, uri in
      var value: [UInt8] = []
      Markup.appendEscaped(Array(uri.utf8), to: &value)
      return " xmlns\(prefix.map { ":" + $0 } ?? "")=\"\(String(decoding: value, as: UTF8.self))\""
    }
    return "<" + name + declarations.joined() + ">"
  }
}
