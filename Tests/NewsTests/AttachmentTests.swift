import Foundation
import News
import Testing

@Suite struct AttachmentTests {
  private static let id = UUID(uuidString: "019A1111-0000-7000-8000-000000000000")!

  @Test("The path of a file contains its id in lower case, and can be parsed")
  func paths() {
    let path = Attachment.path(of: Self.id)
    #expect(path == "/v1/media/019a1111-0000-7000-8000-000000000000")
    #expect(Attachment(url: path, type: "image/png").mediaID == Self.id)
  }

  @Test(
    "Only the path of a file is accepted",
    arguments: [
      "", "/v1/media/", "/v1/media/x", "/v1/media/019A1111-0000-7000-8000-000000000000",
      "https://news.example/v1/media/019a1111-0000-7000-8000-000000000000",
      "/v1/media/019a1111-0000-7000-8000-000000000000/", "//v1/media/019a1111-0000-7000-8000-000000000000",
    ])
  func others(url: String) {
    #expect(Attachment(url: url, type: "image/png").mediaID == nil)
  }

  @Test("The URL of an attachment is a link or the path of a file")
  func addresses() {
    let path = Attachment.path(of: Self.id)
    #expect(Attachment.address(path) == path)
    #expect(Attachment.address("HTTPS://news.example/a.png") == "https://news.example/a.png")
    #expect(Attachment.address("/a.png") == nil)
    #expect(Attachment.address("javascript:alert(1)") == nil)
  }
}
