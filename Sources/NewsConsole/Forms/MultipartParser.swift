package import NIOCore

/// An incremental parser of bodies of type `multipart/form-data` (RFC 7578, RFC 2046 section 5.1).
///
///     var parser = MultipartParser(boundary: boundary, limits: MultipartLimits(totalBytes: 1 << 20))
///     for chunk in chunks {
///       try parser.append(chunk)
///       while let event = try parser.next() { print(event) }
///     }
///     try parser.finish()
///
/// While it waits for more input, it holds no more than the header of a part or a delimiter. The content of parts is
/// returned at once, as slices of the input.
package struct MultipartParser: Sendable {
  /// An event of the parser. The content of a part comes in pieces, whose sizes depend on those of the input.
  package enum Event: Sendable, Hashable {
    case partBegan(PartHeader)
    /// A piece of the content of the part; never empty.
    case data(ByteBuffer)
    /// The part was complete.
    case partEnded
    /// The last delimiter. The rest of the input is ignored.
    case finished
  }

  private enum State {
    /// In the content of a part, or before the first delimiter.
    case content
    /// After the boundary, before the end of its line.
    case boundary(BoundaryEnd)
    case header
    /// After the last delimiter, which was not reported yet.
    case closed
    case epilogue
    case failed(FormError)
  }

  /// The place after a boundary, by the last byte.
  private enum BoundaryEnd {
    case start
    case hyphen
    case padding
    case carriageReturn
  }

  private let limits: MultipartLimits
  private var state = State.content
  private var input = ByteBuffer()
  private var search: DelimiterSearch
  /// The part whose content is being read, with the length of a field so far.
  private var part: (isFile: Bool, bytes: Int)?
  private var header: PartHeaderParser
  /// The beginning of a line of a header.
  private var line: [UInt8] = []
  private var headerBytes = 0
  private var preambleBytes = 0
  private var totalFieldBytes = 0
  private var parts = 0
  private var totalBytes = 0

  package init(boundary: MultipartBoundary, limits: MultipartLimits) {
    self.limits = limits
    search = DelimiterSearch(boundary)
    header = PartHeaderParser(limits)
  }

  /// The number of bytes that the parser holds: at most the length of a header or of a delimiter, once `next()` has
  /// returned nil.
  package var heldBytes: Int {
    input.readableBytes + line.count + header.heldBytes + search.matched
  }

  /// The number of comparisons of bytes in the search for delimiters: at most three for each byte of the input.
  package var comparisons: Int { search.comparisons }

  /// Adds input. Call `next()` afterwards until it returns nil.
  ///
  /// - Throws: `FormError.bodyTooLarge`, or the error that has ended the parser earlier.
  package mutating func append(_ bytes: ByteBuffer) throws(FormError) {
    if case .failed(let error) = state { throw error }
    guard bytes.readableBytes <= limits.totalBytes - totalBytes else { throw fail(.bodyTooLarge) }
    totalBytes += bytes.readableBytes
    if input.readableBytes == 0 {
      input = bytes
    } else {
      input.writeImmutableBuffer(bytes)
    }
  }

  /// Returns the next event; nil if more input is needed.
  ///
  /// - Throws: `FormError`: `malformedParts`, `notUTF8` or an exceeded limit. It is thrown again from then on.
  package mutating func next() throws(FormError) -> Event? {
    do throws(FormError) {
      while input.readableBytes > 0 || isClosed {
        if let event = try step() { return event }
      }
      // Releases the memory of the input, of which nothing is left.
      input = ByteBuffer()
      if case .failed(let error) = state { throw error }
      return nil
    } catch {
      throw fail(error)
    }
  }

  /// Ends the input.
  ///
  /// - Throws: `FormError.truncated` if the last delimiter is missing, or the error that has ended the parser earlier.
  package mutating func finish() throws(FormError) {
    switch state {
    case .closed, .epilogue: break
    case .failed(let error): throw error
    case .content, .boundary, .header: throw fail(.truncated)
    }
  }

  private var isClosed: Bool {
    if case .closed = state { true } else { false }
  }

  private mutating func fail(_ error: FormError) -> FormError {
    state = .failed(error)
    input = ByteBuffer()
    line = []
    header = PartHeaderParser(limits)
    return error
  }

  /// Takes some of the input.
  ///
  /// - Returns: nil if there is no event yet.
  private mutating func step() throws(FormError) -> Event? {
    switch state {
    case .content:
      switch search.next(in: &input) {
      case .content(let bytes): return try receive(bytes)
      case .delimiter:
        headerBytes = 0
        state = .boundary(.start)
      case nil: break
      }
      return nil
    case .boundary(let end): return try readBoundaryEnd(after: end)
    case .header: return try readHeader()
    case .closed:
      state = .epilogue
      return .finished
    case .epilogue:
      input = ByteBuffer()
      return nil
    case .failed(let error): throw error
    }
  }

  private mutating func receive(_ bytes: ByteBuffer) throws(FormError) -> Event? {
    guard var part else {
      preambleBytes += bytes.readableBytes
      guard preambleBytes <= limits.preambleBytes else { throw .malformedParts }
      return nil
    }
    guard !part.isFile else { return .data(bytes) }
    part.bytes += bytes.readableBytes
    totalFieldBytes += bytes.readableBytes
    guard part.bytes <= limits.fieldBytes, totalFieldBytes <= limits.totalFieldBytes else { throw .valueTooLong }
    self.part = part
    return .data(bytes)
  }

  /// Reads a byte between a boundary and the end of its line: `--` after the last boundary, white space otherwise.
  private mutating func readBoundaryEnd(after end: BoundaryEnd) throws(FormError) -> Event? {
    guard let byte = input.readInteger(as: UInt8.self) else { return nil }
    try countHeader(1)
    switch (end, byte) {
    case (.start, UInt8(ascii: "-")): state = .boundary(.hyphen)
    case (.start, UInt8(ascii: " ")), (.start, UInt8(ascii: "\t")), (.padding, UInt8(ascii: " ")),
      (.padding, UInt8(ascii: "\t")):
      state = .boundary(.padding)
    case (.start, UInt8(ascii: "\r")), (.padding, UInt8(ascii: "\r")): state = .boundary(.carriageReturn)
    case (.hyphen, UInt8(ascii: "-")):
      state = .closed
      return endPart()
    case (.carriageReturn, UInt8(ascii: "\n")):
      parts += 1
      guard parts <= limits.parts else { throw .tooManyParts }
      state = .header
      return endPart()
    default: throw .malformedParts
    }
    return nil
  }

  private mutating func endPart() -> Event? {
    guard part != nil else { return nil }
    part = nil
    return .partEnded
  }

  /// Reads a line of a header, or what there is of it.
  private mutating func readHeader() throws(FormError) -> Event? {
    let lineFeed = UInt8(ascii: "\n")
    let view = input.readableBytesView
    let length = view.firstIndex(of: lineFeed).map { $0 - view.startIndex + 1 } ?? view.count
    try countHeader(length)
    line += view.prefix(length)
    input.moveReaderIndex(forwardBy: length)
    guard line.last == lineFeed else { return nil }
    guard line.dropLast().last == UInt8(ascii: "\r") else { throw .malformedParts }
    defer { line.removeAll(keepingCapacity: true) }
    guard line.count == 2 else {
      try header.add(line.dropLast(2))
      return nil
    }
    let complete = try header.header()
    header = PartHeaderParser(limits)
    part = (complete.isFile, 0)
    state = .content
    search.beginLine()
    return .partBegan(complete)
  }

  private mutating func countHeader(_ bytes: Int) throws(FormError) {
    headerBytes += bytes
    guard headerBytes <= limits.headerBytes else { throw .partHeaderTooLong }
  }
}
