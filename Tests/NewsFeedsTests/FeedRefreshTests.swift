import Foundation
import NewsFeeds
import Testing

@Suite("The refresh of a page") struct FeedRefreshTests {
  private static func refresh(_ page: String) -> String? {
    FeedDiscovery.refresh(of: Array(page.utf8), at: "https://port.example/blog/old")
  }

  @Test(
    "leads on to another address",
    arguments: [
      ("0;url=/feed.xml", "https://port.example/feed.xml"), ("0; URL='feed.xml'", "https://port.example/blog/feed.xml"),
      ("5,url=\"https://new.example/a b\"", "https://new.example/a%20b"), ("0 /x", "https://port.example/x"),
      ("0;/x", "https://port.example/x"), (" 1.5 ; url = //new.example/", "https://new.example/"),
      ("0;url=javascript:alert(1)", nil), ("0;url=data:text/html,x", nil), ("0;url=", nil), ("300;url=/", nil),
      ("30;url=/x", "https://port.example/x"), ("31;url=/x", nil),
      ("5", nil),
      ("", nil),
    ] as [(String, String?)])
  func content(content: String, address: String?) {
    let content = content.replacing("\"", with: "&quot;")
    #expect(
      Self.refresh("<!doctype html><title>x</title><meta http-equiv=\"Refresh\" content=\"\(content)\">") == address)
  }

  @Test("is also that of the header field, unless the response is a feed")
  func field() {
    func refresh(_ field: String, _ page: String) -> String? {
      FeedDiscovery.refresh(field: field, of: Array(page.utf8), at: "https://port.example/blog/old")
    }
    for page in ["", "Moved", "<!doctype html><title>x</title>", "<html>"] {
      #expect(refresh("0; url=/feed.xml", page) == "https://port.example/feed.xml")
    }
    for page in ["<rss>", "<?xml version='1.0'?>\n<feed>", "{\"version\":1}", " {", "<?xml version='1.0'?>"] {
      #expect(refresh("0; url=/feed.xml", page) == nil)
    }
    #expect(refresh("60; url=/feed.xml", "") == nil)
    #expect(refresh("0; url=" + String(repeating: "a", count: 5000), "") == nil)
  }

  @Test("is that of a page, not of a feed with a page in it, nor of a text")
  func pages() {
    let meta = "<meta http-equiv=refresh content='0;url=/x'>"
    #expect(Self.refresh(meta) == "https://port.example/x")
    #expect(Self.refresh("<?xml version='1.0'?><html><head>\(meta)") == "https://port.example/x")
    #expect(Self.refresh("<head><base href='https://cdn.example/'>\(meta)") == "https://cdn.example/x")
    let bases = ["cdn", "other"].map { "<base href='https://\($0).example/'>" }.joined()
    #expect(Self.refresh("<head>\(bases)\(meta)") == "https://cdn.example/x")
    #expect(Self.refresh(meta + meta.replacing("/x", with: "/y")) == "https://port.example/x")
    #expect(Self.refresh("<rss><channel><description><html>\(meta)") == nil)
    for root in ["<feed>", "<atom:feed>", "<rdf:RDF>"] {
      #expect(Self.refresh("\(root)<html>\(meta)") == nil, "\(root)")
    }
    #expect(Self.refresh("<HTML>" + meta.replacing("<meta", with: "<META")) == "https://port.example/x")
    #expect(Self.refresh(String(repeating: "x", count: 1024) + meta) == nil)
    #expect(Self.refresh("<html><!-- \(meta) -->") == nil)
    #expect(Self.refresh("<html>" + String(repeating: " ", count: 9000) + meta) == nil)
    #expect(Self.refresh("<html>" + String(repeating: " ", count: 8000) + meta) == "https://port.example/x")
  }
}
