internal import CLibXML2
internal import SafeHTML

/// A document that is built from the elements that a parser finds.
protocol XMLDocumentBuilder: AnyObject {
  /// The number of open elements that are not kept.
  var structure: Int { get }
  /// Whether parsing can resume here: outside of all kept elements, or right at the start of one.
  var isAtEdge: Bool { get }

  /// - Parameter tag: The qualified name.
  /// - Returns: The reason why the document cannot be parsed; nil if it can.
  func start(_ name: FeedName, _ attributes: [FeedAttribute], tag: String, line: Int) -> String?
  func characters(_ bytes: UnsafeBufferPointer<UInt8>, isCDATA: Bool)
  func end()
}

/// Parses XML in UTF-8 from pieces of any size with libxml2, in bounded memory. The encoding declaration is ignored.
///
/// Nothing is fetched. Entities that a document declares are refused, so that they can neither multiply nor read files.
/// `ReferenceRepair` has replaced the names of HTML before.
final class XMLPushParser {
  /// The maximum nesting depth of elements.
  private static let maximumDepth = 256
  /// The maximum number of attributes in a start tag. libxml2 compares each attribute with all previous ones.
  private static let maximumAttributes = 128
  /// The maximum number of namespace declarations in scope. libxml2 searches all of them for the prefix of each name.
  private static let maximumNamespaces = 256
  private static let parserIsReady: Void = xmlInitParser()

  /// The open elements around the entries, outermost first.
  private(set) var structure: [XMLStartTag]
  /// The last place outside of entries or right at the start of one: its offset in bytes, and its line.
  private(set) var anchor: (offset: Int, line: Int)
  /// The reason why parsing cannot continue.
  private(set) var failure: XMLFailure?

  private let document: any XMLDocumentBuilder
  private let firstLine: Int
  /// The start tags of elements that are already open, which are parsed before the input.
  private let preface: [UInt8]
  private let reopened: Int
  private var context: xmlParserCtxtPtr?
  private var depth = 0
  private var attributeLimit = AttributeLimit(maximum: XMLPushParser.maximumAttributes, syntax: .xml)
  /// The number of namespaces that each open element declares, outermost first.
  private var declaredNamespaces: [Int] = []
  private var namespaceCount = 0
  private var firstError: XMLFailure?
  /// Whether the root element has ended. Whatever follows is ignored.
  private var isComplete = false

  /// - Parameters:
  ///   - firstLine: The number of the first line of the input.
  ///   - structure: The open elements around the input, which then starts with an entry; empty for a whole document.
  init(document: any XMLDocumentBuilder, firstLine: Int, within structure: [XMLStartTag] = []) {
    self.document = document
    self.firstLine = firstLine
    self.structure = structure
    reopened = structure.count
    preface = structure.flatMap { Array($0.text.utf8) }
    // The offset is after the first `<`, so that a search does not find the entry at the start of the input again.
    anchor = (structure.isEmpty ? 0 : 1, firstLine)
  }

  deinit {
    if let context {
      // "The parsed document in ctxt->myDoc is not freed": libxml2 creates one on its own for the entities of a
      // document type.
      if let document = context.pointee.myDoc { xmlFreeDoc(document) }
      xmlFreeParserCtxt(context)
    }
  }

  /// Parses more of the document.
  ///
  /// - Parameter bytes: At most some KiB: libxml2 keeps the bytes that it has not consumed, and fails above 10 MB of
  ///   them. The first piece has at least four bytes, unless the whole document is shorter.
  func feed(_ bytes: some Collection<UInt8>) {
    if context == nil { start() }
    if failure == nil, !isComplete { parse(Array(bytes), isLast: false) }
  }

  /// Ends the document.
  func finish() {
    if failure == nil, !isComplete { parse([], isLast: true) }
  }

  private func start() {
    _ = Self.parserIsReady
    var handler = Self.handler
    let user = Unmanaged.passUnretained(self).toOpaque()
    context = xmlCreatePushParserCtxt(&handler, user, nil, 0, nil)
    guard let context else {
      failure = XMLFailure(line: firstLine, message: "cannot be parsed: out of memory")
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
    if isComplete { return }
    if accepted.count < piece.count {
      stop("has a start tag with more than \(Self.maximumAttributes) attributes")
      return
    }
    // The returned code also counts harmless errors, such as an undeclared prefix.
    if failure == nil, context.pointee.wellFormed == 0 {
      failure = firstError ?? XMLFailure(line: line, message: "is not well-formed XML")
    }
  }

  /// Records the first fatal error. The errors that follow from it depend on how the bytes are divided.
  private func note(_ error: xmlError) {
    guard firstError == nil, !isComplete, error.level == XML_ERR_FATAL else { return }
    if Int32(XML_ERR_DOCUMENT_END.rawValue) == error.code, depth > 0 {
      // The position of libxml2 in incomplete content depends on the pieces.
      firstError = XMLFailure(line: anchor.line, message: "is not well-formed XML: it is truncated")
      return
    }
    // At the edge of a piece libxml2 cannot get past an invalid character, and reports an "internal error".
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
    guard failure == nil, !isComplete else { return }
    depth += 1
    declaredNamespaces.append(declaredCount)
    namespaceCount += declaredCount
    if namespaceCount > Self.maximumNamespaces {
      return stop("declares more than \(Self.maximumNamespaces) nested namespaces")
    }
    if depth <= reopened { return }
    if depth > Self.maximumDepth { return stop("has more than \(Self.maximumDepth) nested elements") }
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

  /// Reads "localname/prefix/URI/value/end" for each attribute. The value has no NUL at its end.
  private static func attributes(_ values: UnsafeMutablePointer<Text?>?, _ count: Int) -> [FeedAttribute] {
    (0..<count).compactMap { index in
      guard let field = values.map({ $0 + index * 5 }), let name = field[0], let start = field[3], let end = field[4]
      else { return nil }
      let space = FeedNamespace(uri: field[2].map(Self.namespace), prefix: field[1].map { String(cString: $0) })
      let value = UnsafeBufferPointer(start: start, count: end - start)
      return FeedAttribute(space: space, name: String(cString: name), value: text(ofAttribute: value))
    }
  }

  /// Decodes the value of an attribute. libxml2 writes each ampersand as `&#38;`, because it expects the receiver to
  /// parse references (`xmlParseAttValueComplex`).
  private static func text(ofAttribute value: UnsafeBufferPointer<xmlChar>) -> String {
    guard value.contains(UInt8(ascii: "&")) else { return String(decoding: value, as: UTF8.self) }
    var output: [UInt8] = []
    var rest = value[...]
    while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
      output += rest[...mark]
      rest = rest[(mark + 1)...]
      if rest.starts(with: "#38;".utf8) { rest = rest.dropFirst(4) }
    }
    return String(decoding: output + rest, as: UTF8.self)
  }

  /// Returns the URI of a namespace. A URI longer than all known ones is truncated, because every element repeats it.
  private static func namespace(_ uri: Text) -> String {
    String(decoding: UnsafeBufferPointer(start: uri, count: Self.length(of: uri, atMost: 128)), as: UTF8.self)
  }

  private static func length(of text: Text, atMost limit: Int) -> Int {
    (0..<limit).first { text[$0] == 0 } ?? limit
  }

  /// Reads "pairs prefix/URI".
  private static func namespaces(
    _ values: UnsafeMutablePointer<Text?>?, _ count: Int
  ) -> [(prefix: String?, uri: String)] {
    (0..<count).compactMap { index in
      guard let field = values.map({ $0 + index * 2 }), let uri = field[1] else { return nil }
      return (field[0].map { String(cString: $0) }, String(cString: uri))
    }
  }

  private func endElement() {
    guard failure == nil, !isComplete else { return }
    depth -= 1
    namespaceCount -= declaredNamespaces.popLast() ?? 0
    document.end()
    if depth == 0 { isComplete = true }
    if document.structure < structure.count { structure.removeLast() }
    if document.isAtEdge { setAnchor() }
  }

  private func characters(_ bytes: UnsafeBufferPointer<xmlChar>, isCDATA: Bool) {
    if failure == nil, !isComplete { document.characters(bytes, isCDATA: isCDATA) }
  }

  /// Refuses an entity.
  ///
  /// If a document type names other files, libxml2 silently omits an unknown entity. An entity that is only mentioned in
  /// the declaration of another is harmless.
  private func refuse(entity name: Text) {
    guard depth > 0, failure == nil else { return }
    let name = PlainText.shortened(String(cString: name), to: 64)
    failure = XMLFailure(line: line, message: "uses the entity \"\(name)\", which is unknown")
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
      // libxml2 would add the default values to each element once more.
      XMLPushParser.parser(context).stop("declares attributes in its document type")
    }
    handler.getEntity = { context, name in
      if let context, let name { XMLPushParser.parser(context).refuse(entity: name) }
      return nil
    }
    handler.serror = { context, error in
      guard let context, let error else { return }
      XMLPushParser.parser(context).note(error.pointee)
    }
    return handler
  }
}

/// The reason why XML cannot be parsed further, and its line.
struct XMLFailure {
  var line: Int
  var message: String
}

/// The start tag of an element, reduced to the declarations that its content needs.
struct XMLStartTag {
  /// The qualified name.
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
