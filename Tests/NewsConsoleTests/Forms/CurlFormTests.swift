import Foundation
import HTTPTypes
import NIOCore
import NewsConsole
import TestSupport
import Testing

@Suite struct `Forms that curl sends` {
  private static let curl = "/usr/bin/curl"
  private static let hasCurl = FileManager.default.isExecutableFile(atPath: curl)

  /// Runs curl with a server that accepts one request.
  private static func form(_ arguments: [String]) async throws -> FormRequest {
    let receiver = try RequestReceiver()
    async let received = receiver.receive()
    let process = try ChildProcess(
      ["--silent", "--show-error", "--fail", "--noproxy", "*"] + arguments + ["http://127.0.0.1:\(receiver.port)/"],
      executable: curl, environment: ["LC_ALL": "C.UTF-8"])
    let result = await process.result()
    // A request that never came would be waited for until the time limit of the socket.
    try #require(result.status == 0, "\(result.errors)")
    let (type, body) = try await received
    return FormRequest(body.pieces(of: 1_000), headers: [.contentType: type])
  }

  @Test(.enabled(if: hasCurl, "needs curl"))
  func `Fields and files`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-form-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "picture.png")
    let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
    try content.write(to: file)
    let form = try await Self.form([
      "--form-string", "title=Die Fähre \"läuft\" aus", "--form-string", "text=a\r\n--b\r\n",
      "--form", "file=@\(file.path);filename=\"Fähre \\\"1\\\".png\"",
    ])
    let reader = try FormBody.parts(of: form.request, context: form, limits: MultipartLimits(totalBytes: 1 << 20))
    var fields: [String: String] = [:]
    var received = Data()
    while let part = try await reader.nextPart() {
      switch part {
      case .field(let name, let value): fields[name] = value
      case .file(let file):
        #expect(
          file.header
            == PartHeader(name: "file", isFile: true, fileName: "Fähre \"1\".png", mediaType: "image/png"))
        for try await piece in file { received += piece.readableBytesView }
      }
    }
    #expect(fields == ["title": "Die Fähre \"läuft\" aus", "text": "a\r\n--b\r\n"])
    #expect(received == content)
  }

  @Test(.enabled(if: hasCurl, "needs curl"))
  func `Fields alone`() async throws {
    let form = try await Self.form([
      "--data-urlencode", "title=Fähre & Fog+=%", "--data-urlencode", "text=a\r\nb", "--data", "topic=harbour",
    ])
    let fields = try await FormBody.fields(of: form.request, context: form)
    #expect(fields.first("title") == "Fähre & Fog+=%")
    #expect(fields.text("text") == "a\nb")
    #expect(fields.first("topic") == "harbour")
  }
}
