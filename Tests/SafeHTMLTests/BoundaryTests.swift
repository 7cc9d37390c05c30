import SafeHTML
import Testing

@Suite struct `The boundaries between words` {
  private static let address = "https://a.example/posts/1"

  private func safe(_ source: String) -> SafeHTML { SafeHTML(source, base: Self.address, address: Self.address) }

  /// Checks that the fragment is stable and has the text of the source.
  private func check(_ source: String, _ html: String, _ text: String) {
    let safe = safe(source)
    #expect(safe.html == html)
    #expect(safe.text == text)
    let again = self.safe(safe.html)
    #expect(again.html == html)
    #expect(again.text == text)
    #expect(MarkupCheck.fault(in: html) == nil)
  }

  @Test(arguments: ["&#x;", "&#x-1;", "&#;", "&# 1", "&#", "&#xg;", "&#X."])
  func `A reference without a number is text`(_ text: String) {
    check("a \(text)b", "a \(text.replacing("&", with: "&amp;"))b", "a \(text)b")
    #expect(SafeHTML.decodingEntities("&#65;&#x42;&#X43; \(text)") == "ABC \(text)")
  }
}
