import Hummingbird
package import NIOCore

/// Reads the parts of a form with files, in their order.
///
///     let parts = try FormBody.parts(of: request, context: context, limits: MultipartLimits(totalBytes: 100 << 20))
///     while let part = try await parts.nextPart() {
///       switch part {
///       case .field(let name, let value): print("\(name): \(value)")
///       case .file(let file): for try await bytes in file { print("\(bytes.readableBytes) bytes") }
///       }
///     }
///
/// Backpressure: the body is read no faster than the parts are. A reader is used by one task at a time.
package final class MultipartReader {
  package enum Part {
    case field(name: String, value: String)
    /// A file, whose content can be read until the next part is requested; the rest of it is skipped.
    case file(MultipartFile)
  }

  /// The content of a file was requested after the part that follows it.
  package struct PartHasPassed: Error {}

  private var body: RequestBody.AsyncIterator
  private var parser: MultipartParser
  private let context: any FormBodyContext
  /// The number of parts that have begun.
  private var partNumber = 0
  /// A piece of the content of a file that was read to find out whether the file is empty.
  private var pending: ByteBuffer?
  /// Whether the content of the current part has not ended.
  private var isInPart = false
  private var isFinished = false

  init(_ body: RequestBody, parser: MultipartParser, context: any FormBodyContext) {
    self.body = body.makeAsyncIterator()
    self.parser = parser
    self.context = context
  }

  /// Returns the next part; nil at the end of the form, once the whole body has been read.
  ///
  /// A file input for which no file was chosen is skipped: browsers send it as an empty file without a name.
  ///
  /// - Throws: `FormError`.
  package func nextPart() async throws(FormError) -> Part? {
    pending = nil
    while !isFinished {
      switch try await nextEvent() {
      case .partBegan(let header):
        partNumber += 1
        isInPart = true
        guard header.isFile else { return .field(name: header.name, value: try await fieldValue()) }
        if header.fileName == nil {
          pending = try await nextPiece()
          if pending == nil { continue }
        }
        return .file(MultipartFile(header: header, reader: self, number: partNumber))
      case .data, .partEnded: isInPart = false
      case .finished:
        // The connection can be used again once the body has ended.
        while let bytes = try await read() { try parser.append(bytes) }
        isFinished = true
      }
    }
    return nil
  }

  /// Returns the next piece of the content of a file; nil at its end.
  ///
  /// - Parameter number: The number of the part.
  /// - Throws: `FormError` or `PartHasPassed`.
  fileprivate func nextPiece(ofPart number: Int) async throws -> ByteBuffer? {
    guard number == partNumber, !isFinished else { throw PartHasPassed() }
    if let piece = pending {
      pending = nil
      return piece
    }
    return try await nextPiece()
  }

  /// Returns the next piece of the content of the current part; nil at its end.
  private func nextPiece() async throws(FormError) -> ByteBuffer? {
    guard isInPart else { return nil }
    if case .data(let bytes) = try await nextEvent() { return bytes }
    isInPart = false
    return nil
  }

  private func fieldValue() async throws(FormError) -> String {
    var bytes: [UInt8] = []
    while let piece = try await nextPiece() { bytes += piece.readableBytesView }
    return try FormError.text(bytes)
  }

  private func nextEvent() async throws(FormError) -> MultipartParser.Event {
    while true {
      if let event = try parser.next() { return event }
      guard let bytes = try await read() else {
        try parser.finish()
        throw .truncated
      }
      try parser.append(bytes)
    }
  }

  /// Reads a part of the body; nil at its end.
  private func read() async throws(FormError) -> ByteBuffer? {
    do {
      if let bytes = try await body.next() { return bytes }
      try await context.requireWholeBody()
      return nil
    } catch {
      throw FormError(bodyError: error)
    }
  }
}

/// A file in a form: a sequence of the pieces of its content, which can be read once, and only before the next part.
package struct MultipartFile: AsyncSequence {
  package typealias Element = ByteBuffer

  /// The name of the field, and the name and the declared type of the file.
  package let header: PartHeader
  fileprivate let reader: MultipartReader
  fileprivate let number: Int

  package struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: MultipartReader
    fileprivate let number: Int

    /// Returns the next piece; nil at the end of the file.
    ///
    /// - Throws: `FormError`, or `MultipartReader.PartHasPassed`.
    package mutating func next() async throws -> ByteBuffer? {
      try await reader.nextPiece(ofPart: number)
    }
  }

  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader, number: number) }
}
