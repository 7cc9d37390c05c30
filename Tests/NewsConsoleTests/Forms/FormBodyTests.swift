import HTTPTypes
import NIOCore
import NewsConsole
import Testing

@Suite struct `Forms in the bodies of requests` {
  @Test(arguments: ["application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; charset=UTF-8"])
  func `Fields are read from a body in any chunks`(type: String) async throws {
    let body = Array("title=F%C3%A4hre&text=a%0D%0Ab".utf8)
    for length in [1, 7, 100] {
      let form = FormRequest(body.pieces(of: length), headers: [.contentType: type])
      let fields = try await FormBody.fields(of: form.request, context: form)
      #expect(fields.first("title") == "Fähre")
      #expect(fields.text("text") == "a\nb")
      #expect(form.isAwaited && form.isVerified)
    }
  }

  @Test(
    "A body of another type, or one that is declared to be too long, is not requested",
    arguments: [
      (nil, [:], .unsupportedType), ("multipart/form-data; boundary=xyz", [:], .unsupportedType),
      ("text/plain", [:], .unsupportedType), ("", [:], .malformedType),
      ("application/x-www-form-urlencoded; charset", [:], .malformedType),
      ("application/x-www-form-urlencoded", [.contentEncoding: "gzip"], .unsupportedCoding),
      ("application/x-www-form-urlencoded", [.contentLength: "101"], .bodyTooLarge),
    ] as [(String?, HTTPFields, FormError)])
  func refused(type: String?, headers: HTTPFields, error: FormError) async {
    let form = FormRequest("a=b", type: type, headers: headers)
    await #expect(throws: error) { try await FormBody.fields(of: form.request, context: form, maximumBytes: 100) }
    #expect(!form.isAwaited && form.unreadChunks == 1)
  }

  @Test(
    "A form with files of another type, or one that is declared to be too long, is not requested",
    arguments: [
      (nil, [:], .unsupportedType), ("multipart/mixed; boundary=xyz", [:], .unsupportedType),
      ("multipart/form-data", [:], .malformedType),
      ("multipart/form-data; boundary=xyz", [.contentEncoding: "gzip"], .unsupportedCoding),
      ("multipart/form-data; boundary=xyz", [.contentLength: "101"], .bodyTooLarge),
    ] as [(String?, HTTPFields, FormError)])
  func refusedParts(type: String?, headers: HTTPFields, error: FormError) {
    let form = FormRequest("", type: type, headers: headers)
    #expect(throws: error) {
      _ = try FormBody.parts(of: form.request, context: form, limits: MultipartLimits(totalBytes: 100))
    }
    #expect(!form.isAwaited && form.unreadChunks == 1)
  }

  @Test func `A declared length within the limit and the identity coding are accepted`() async throws {
    let form = FormRequest("a=bcd", headers: [.contentLength: "5", .contentEncoding: "Identity"])
    #expect(try await FormBody.fields(of: form.request, context: form, maximumBytes: 5).first("a") == "bcd")
  }

  @Test func `A body that exceeds the limit is not read to its end`() async throws {
    let type: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
    let body = Array("a=b".utf8) + [UInt8](repeating: 120, count: (2 << 20) - 3)
    let exact = FormRequest(body.pieces(of: 64 << 10), headers: type)
    // A field is limited to less than the body.
    await #expect(throws: FormError.valueTooLong) { try await FormBody.fields(of: exact.request, context: exact) }
    let form = FormRequest((body + [120]).pieces(of: 64 << 10) + [[120], [120]], headers: type)
    await #expect(throws: FormError.bodyTooLarge) { try await FormBody.fields(of: form.request, context: form) }
    #expect(form.unreadChunks == 2)
  }

  @Test func `A body that is cut off is an error`() async throws {
    let type: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
    for form in [
      FormRequest([Array("a=b".utf8)], headers: type, endsEarly: true),
      FormRequest([Array("a=b".utf8)], headers: type, fails: true),
    ] {
      await #expect(throws: FormError.truncated) { try await FormBody.fields(of: form.request, context: form) }
    }
  }

  @Test func `Each error has a status and the key of a sentence`() {
    #expect(Set(FormError.allCases.map(\.textKey)).count == FormError.allCases.count)
    #expect(FormError.allCases.allSatisfy { $0.textKey.hasPrefix("form-") })
    #expect(Set(FormError.allCases.map(\.status.code)) == [400, 408, 413, 415])
    #expect(FormError.bodyTooLarge.status == .contentTooLarge)
    #expect(FormError.unsupportedCoding.status == .unsupportedMediaType)
    #expect(FormError.truncated.status == .badRequest)
  }
}
