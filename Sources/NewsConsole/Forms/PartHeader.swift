import HTTPEdge
import News

/// The header of a part of a form (RFC 7578 section 4).
package struct PartHeader: Sendable, Hashable {
  /// The name of the field, as it is in the page.
  package var name: String
  /// Whether the part is a file: it has the parameter `filename`, even an empty one.
  package var isFile: Bool
  /// The name of the file; nil if the part is not a file, or if the name has nothing but dots and white space.
  ///
  /// It is the last component of the given path, on one line, without control characters and without characters that
  /// change the direction of writing, and at most 255 bytes long.
  package var fileName: String?
  /// The declared media type in lower case and without parameters, such as `image/png`; nil if it is absent or
  /// malformed. The content need not be of this type.
  package var mediaType: String?

  package init(name: String, isFile: Bool = false, fileName: String? = nil, mediaType: String? = nil) {
    self.name = name
    self.isFile = isFile
    self.fileName = fileName
    self.mediaType = mediaType
  }
}

/// Parses the header of a part, line by line.
struct PartHeaderParser: Sendable {
  private let limits: MultipartLimits
  private var name: String?
  private var givenFileName: String?
  private var mediaType: String?

  init(_ limits: MultipartLimits) {
    self.limits = limits
  }

  /// The number of bytes that the parser holds.
  var heldBytes: Int {
    [name, givenFileName, mediaType].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
  }

  /// Reads a line without its line end. Other fields than `Content-Disposition` and `Content-Type` are ignored.
  ///
  /// - Throws: `FormError`: `malformedParts`, `nameTooLong` or `notUTF8`.
  mutating func add(_ line: ArraySlice<UInt8>) throws(FormError) {
    let field = line.prefix { $0 != UInt8(ascii: ":") }
    // A folded line begins with white space. Nobody sends one.
    guard field.count < line.count, !field.isEmpty, field.allSatisfy({ 33...126 ~= $0 }),
      !line.contains(UInt8(ascii: "\r"))
    else { throw .malformedParts }
    let value = line.dropFirst(field.count + 1)
    switch String(decoding: field, as: UTF8.self).lowercased() {
    case "content-disposition": try readDisposition(value)
    case "content-type": readType(value)
    default: break
    }
  }

  /// Returns the header after its last line.
  ///
  /// - Throws: `FormError.malformedParts` if there was no `Content-Disposition`.
  func header() throws(FormError) -> PartHeader {
    guard let name else { throw .malformedParts }
    return PartHeader(
      name: name, isFile: givenFileName != nil, fileName: givenFileName.flatMap(Self.safeFileName),
      mediaType: mediaType)
  }

  private mutating func readDisposition(_ value: ArraySlice<UInt8>) throws(FormError) {
    guard self.name == nil, let field = try? ParameterisedField(value, backslash: .isLiteral),
      field.value == "form-data", let name = field.parameters["name"].map(Self.unescaped)
    else { throw .malformedParts }
    guard name.count <= limits.nameBytes else { throw .nameTooLong }
    self.name = try Self.text(name)
    // `filename*` is not allowed in forms (RFC 7578 section 4.2).
    if let fileName = field.parameters["filename"] { givenFileName = try Self.text(Self.unescaped(fileName)) }
  }

  private mutating func readType(_ value: ArraySlice<UInt8>) {
    guard let field = try? ParameterisedField(value, backslash: .escapes) else { return }
    let parts = field.value.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), field.value.isStreamSafe { mediaType = field.value }
  }

  private static func text(_ bytes: [UInt8]) throws(FormError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    return text
  }

  /// Replaces the escapes of browsers: `%22`, `%0D` and `%0A`, and no other (HTML standard, section 4.10.21.8).
  private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
    var unescaped: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      let character: Character? =
        switch byte == UInt8(ascii: "%") ? String(decoding: rest.prefix(2), as: UTF8.self) : "" {
        case "22": "\""
        case "0D": "\r"
        case "0A": "\n"
        default: nil
        }
      unescaped.append(character?.asciiValue ?? byte)
      if character != nil { rest = rest.dropFirst(2) }
    }
    return unescaped
  }

  /// Returns the name under which a file is kept; nil if nothing is left of it.
  private static func safeFileName(_ given: String) -> String? {
    var component = given.terminalSafe.split { $0 == "/" || $0 == "\\" }.last ?? ""
    component = component.drop { $0.isWhitespace }
    while component.last?.isWhitespace == true { component.removeLast() }
    let name = shortened(String(component))
    return name.allSatisfy { $0 == "." || $0.isWhitespace } ? nil : name
  }

  /// Shortens a name to 255 bytes before its extension, as file systems limit names.
  private static func shortened(_ name: String) -> String {
    let maximumBytes = 255
    guard name.utf8.count > maximumBytes else { return name }
    let suffix = name.lastIndex(of: ".").map { name[$0...] } ?? ""
    let kept = suffix.utf8.count <= 16 ? suffix : ""
    var room = maximumBytes - kept.utf8.count
    let stem = name.unicodeScalars.prefix { scalar in
      room -= UTF8.width(scalar)
      return room >= 0
    }
    return String(stem) + kept
  }
}
