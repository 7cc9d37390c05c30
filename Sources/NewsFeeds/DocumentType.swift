/// The document types at the start of a feed (XML 1.0 section 2.8), which are removed before it is parsed.
///
/// A feed needs nothing of them but the texts of entities. A parser that loads no file must reject some of them, such as
/// those that refer to `%HTMLlat1;`.
struct DocumentType {
  /// The maximum length of an entity's text in bytes.
  private static let maximumTextBytes = 1024

  private static let start = Array("<!doctype".utf8)
  private static let opaque = [OpaqueMarkup.comment, .instruction]

  /// The declared general entities: their texts as escaped XML. The text is nil if it is in another file, is too long, or
  /// refers to an entity that is declared later.
  private(set) var entities: [String: [UInt8]?] = [:]

  /// Replaces the document types by blanks. Lines keep their numbers.
  init(removedFrom document: inout [UInt8]) {
    var index = 0
    while true {
      let prolog = document.prefix(FeedProlog.maximumBytes)
      let rest = prolog[index...].drop { $0 <= 0x20 }
      if let mark = Self.opaque.first(startingWith: rest) {
        guard let end = mark.end(of: rest) else { return }
        index = end
      } else {
        guard let (declarations, end) = Self.parts(of: rest) else { return }
        for declaration in declarations { read(declaration) }
        for place in rest.startIndex..<end where document[place] != UInt8(ascii: "\n") { document[place] = 0x20 }
        index = end
      }
    }
  }

  /// Finds the declarations inside a document type, and the place after it.
  ///
  /// - Returns: nil if the bytes do not begin with a document type, or if it does not end.
  static func parts(of bytes: ArraySlice<UInt8>) -> (declarations: [ArraySlice<UInt8>], end: Int)? {
    guard bytes.prefix(start.count).map({ $0.lowercasedASCII }) == start else { return nil }
    var declarations: [ArraySlice<UInt8>] = []
    var rest = bytes.dropFirst(start.count)
    var isInside = false
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "<") where isInside:
        guard let end = end(ofDeclaration: rest) else { return nil }
        declarations.append(rest[..<end])
        rest = rest[end...]
        continue
      case UInt8(ascii: "<"): return (declarations, rest.startIndex)
      case UInt8(ascii: ">") where !isInside: return (declarations, rest.startIndex + 1)
      case UInt8(ascii: "["): isInside = true
      case UInt8(ascii: "]"): isInside = false
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        // A mark without its counterpart is ignored.
        let literal = rest.dropFirst().prefix { $0 != byte && $0 != UInt8(ascii: "<") }
        if !isInside, rest[literal.endIndex...].first == byte { rest = rest[literal.endIndex...] }
      default: break
      }
      rest = rest.dropFirst()
    }
    return nil
  }

  /// Returns the place after a declaration, comment or instruction; nil if it does not end.
  private static func end(ofDeclaration bytes: ArraySlice<UInt8>) -> Int? {
    if let mark = opaque.first(startingWith: bytes) { return mark.end(of: bytes) }
    var quote: UInt8?
    for index in bytes.indices {
      switch bytes[index] {
      case let byte where byte == quote: quote = nil
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = quote ?? bytes[index]
      case UInt8(ascii: ">") where quote == nil: return index + 1
      default: break
      }
    }
    return nil
  }

  /// Reads the declaration of a general entity (XML 1.0 section 4.2). The first one of a name applies.
  private mutating func read(_ declaration: ArraySlice<UInt8>) {
    let start = Array("<!ENTITY".utf8)
    guard declaration.starts(with: start) else { return }
    let parts = declaration.dropFirst(start.count).drop { $0 <= 0x20 }
    let name = parts.prefix { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
    let definition = parts.dropFirst(name.count).drop { $0 <= 0x20 }
    let key = String(decoding: name, as: UTF8.self)
    guard name.first != UInt8(ascii: "%"), entities[key] == nil, let quote = definition.first else { return }
    let isText = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
    entities.updateValue(isText ? text(definition.dropFirst().prefix { $0 != quote }) : nil, forKey: key)
  }

  /// Returns the text of an entity as XML without markup and line ends.
  private func text(_ value: ArraySlice<UInt8>) -> [UInt8]? {
    guard value.count <= Self.maximumTextBytes else { return nil }
    let escaped = value.flatMap { "<>\"'\n\r".utf8.contains($0) ? Array("&#\($0);".utf8) : [$0] }
    var references = ReferenceRepair(firstLine: 1, entities: entities)
    let text = references.repaired(escaped, isLast: true)
    return references.problems.isEmpty && text.count <= Self.maximumTextBytes ? text : nil
  }
}

extension UInt8 {
  fileprivate var lowercasedASCII: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}
