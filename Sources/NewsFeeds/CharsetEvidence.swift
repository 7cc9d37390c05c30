/// Decodes text that is UTF-8, or in an encoding of single bytes over ASCII, or partly in both.
///
/// Declarations are often wrong, and some feeds consist of texts from different systems. The multi-byte sequences of UTF-8
/// are evidence for it. Other bytes above 127 are evidence against it, because sequences also occur by chance: in
/// windows-1252, `é`, a no-break space and `»` are one. Sequences are read as UTF-8, unless the other bytes around them
/// outnumber them. A text that is clearly different from those around it is read by its own evidence. Bytes that are not
/// UTF-8 are always read in the other encoding.
///
/// The bytes are decoded in blocks, which do not depend on how the input is divided.
final class CharsetEvidence {
  /// The number of bytes of a block, which begins with a byte above 127.
  private static let blockBytes = 4096
  /// The maximum of the evidence of earlier blocks. More of it would outweigh a part of the document that is different.
  private static let maximumBalance = 8
  /// The evidence of a text that outweighs that of those around it.
  private static let clearBalance = 3

  /// Decoded text, and the places in it to which a message applies.
  struct Output {
    var bytes: [UInt8] = []
    var notes: [(message: String, place: Int)] = []
  }

  /// The numbers of sequences and other bytes above 127 in a text.
  struct Count {
    var sequences = 0
    var strays = 0

    init(_ bytes: ArraySlice<UInt8>) {
      CharsetEvidence.scan(bytes) { part, isValid in
        if isValid { sequences += part.count { $0 >= 0xC0 } } else { strays += part.count }
      }
    }

    var balance: Int { sequences - strays }
  }

  private let converter: CharsetConverter?
  /// The name of the declared encoding; nil if none is declared, or UTF-8.
  private let name: String?
  private let strayMessage: String
  /// The bytes of the current block so far.
  private var pending: [UInt8] = []
  /// The number of sequences without that of other bytes, in the blocks so far.
  private var balance = 0
  /// The messages so far, each once.
  private var messages: Set<String> = []

  /// - Parameter name: The name of the declared encoding; nil if none is declared, or UTF-8.
  init(_ converter: CharsetConverter?, name: String?) {
    self.converter = converter
    self.name = name
    strayMessage = "has bytes that are not UTF-8; they are read as \(name ?? "windows-1252")"
  }

  /// Decodes more bytes.
  func decode(_ bytes: [UInt8], isLast: Bool) -> Output {
    let input = pending + bytes
    var rest = input[...]
    var output = Output()
    while true {
      let plain = rest.prefix { $0 < 0x80 }
      output.bytes += plain
      rest = rest[plain.endIndex...]
      guard rest.count >= Self.blockBytes else { break }
      let block = Self.whole(rest.prefix(Self.blockBytes))
      decode(block, to: &output)
      rest = rest[block.endIndex...]
    }
    if isLast {
      // A character that the end cuts off is no evidence.
      let block = rest.dropLast(UTF8Tail.length(of: rest))
      decode(block, to: &output)
      rest = rest[block.endIndex...]
      if name == nil, !rest.isEmpty { note(strayMessage, output.bytes.count, &output) }
      convert(rest, to: &output)
      rest = []
    }
    pending = Array(rest)
    return output
  }

  /// Returns a block without the text or the character that is cut off at its end.
  private static func whole(_ block: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    if let tag = block.lastIndex(of: UInt8(ascii: "<")) { return block[..<tag] }
    return block.dropLast(UTF8Tail.length(of: block))
  }

  private func decode(_ block: ArraySlice<UInt8>, to output: inout Output) {
    let count = Count(block)
    balance = max(-Self.maximumBalance, min(Self.maximumBalance, balance + count.balance))
    var rest = block
    while !rest.isEmpty {
      // A text begins with the tag before it.
      let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
      // Without other bytes, no text of the block speaks against UTF-8.
      let text = count.strays == 0 && balance >= 0 ? rest : rest[..<end]
      decode(text: text, to: &output)
      rest = rest[text.endIndex...]
    }
  }

  private func decode(text: ArraySlice<UInt8>, to output: inout Output) {
    let count = Count(text)
    let isUTF8 = count.balance >= (balance >= 0 ? 1 - Self.clearBalance : Self.clearBalance)
    if let name, isUTF8, count.sequences > 0 {
      note("declares the encoding \(name), but is UTF-8 and is read as UTF-8", output.bytes.count, &output)
    }
    guard isUTF8 else {
      let place = output.bytes.count + text.prefix { $0 < 0x80 }.count
      if name == nil, count.sequences + count.strays > 0 { note(strayMessage, place, &output) }
      return convert(text, to: &output)
    }
    Self.scan(text) { part, isValid in
      if isValid {
        output.bytes += part
      } else {
        note(strayMessage, output.bytes.count, &output)
        convert(part, to: &output)
      }
    }
  }

  /// Converts bytes of the other encoding. The blank completes a character that is combined with the next one.
  private func convert(_ bytes: ArraySlice<UInt8>, to output: inout Output) {
    guard let converter else { return }
    let before = converter.replacements
    let text = converter.convert(bytes + [0x20], isLast: true).dropLast()
    if let name, converter.replacements > before, let place = text.firstRange(of: "\u{FFFD}".utf8)?.lowerBound {
      note("has bytes that are not \(name); they are replaced by U+FFFD", output.bytes.count + place, &output)
    }
    output.bytes += text
  }

  private func note(_ message: String, _ place: Int, _ output: inout Output) {
    if messages.insert(message).inserted { output.notes.append((message, place)) }
  }

  /// Divides a text into characters of UTF-8 and other bytes.
  private static func scan(_ bytes: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>, _ isValid: Bool) -> Void) {
    if String(validating: bytes, as: UTF8.self) != nil { return body(bytes, true) }
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var rest = bytes
    while true {
      let (length, isValid): (Int, Bool)
      switch parser.parseScalar(from: &iterator) {
      case .valid(let character): (length, isValid) = (character.count, true)
      case .error(let count): (length, isValid) = (count, false)
      case .emptyInput: return
      }
      body(rest.prefix(length), isValid)
      rest = rest.dropFirst(length)
    }
  }
}

/// The end of a truncated UTF-8 text.
enum UTF8Tail {
  /// Returns the number of bytes at the end that may be the start of a longer character.
  static func length(of bytes: ArraySlice<UInt8>) -> Int {
    for (offset, byte) in bytes.suffix(3).reversed().enumerated() where byte >= 0xC0 {
      let needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
      return offset + 1 < needed ? offset + 1 : 0
    }
    return 0
  }
}
