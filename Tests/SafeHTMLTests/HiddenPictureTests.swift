import SafeHTML
import Testing

@Suite struct `Hidden pictures` {
  @Test(arguments: [
    "<img src='data:image/gif;base64,R0lG' data-src=/a.jpg alt=Pier>", "<img data-lazy-src=/a.jpg alt=Pier>",
    "<img src=/blank.gif data-original=/a.jpg alt=Pier>", "<img src=/s.png width=1 height=1 data-src=/a.jpg alt=Pier>",
    "<img data-srcset='/b.jpg 300w, /a.jpg 900w' alt=Pier>", "<img srcset='/b.jpg, /a.jpg 2x' alt=Pier>",
    "<img srcset='/a.jpg 1024w,/b.jpg 4000w' alt=Pier>", "<noscript><img src=/a.jpg alt=Pier></noscript>",
    "<img src='data:x' alt=Pier><noscript><img src=/a.jpg alt=Pier></noscript>",
    "<img alt=Pier><noscript><img src=/a.jpg alt=Pier></noscript>",
    "<a><img src=/spacer.gif></a><noscript><a><img src=/a.jpg alt=Pier></a></noscript>",
    "<img data-src=/a.jpg alt=Pier><noscript><img src=/a.jpg?full alt=Pier></noscript>",
    "<noscript><img src=/a.jpg alt=Pier></noscript><img src='data:x' alt=Pier>",
    "<picture><source srcset='/b.webp'><source srcset='/a.jpg 1x'><img src='data:x' alt=Pier></picture>",
    "<picture><source srcset='/b.webp'><img src=/a.jpg alt=Pier></picture>", "<image src=/a.jpg alt=Pier>",
    "<svg><image xlink:href=/a.jpg alt=Pier></image></svg>", "<amp-img src=/a.jpg alt=Pier></amp-img>",
    "<amp-img src=/a.jpg alt=Pier><noscript><img src=/a.jpg alt=Pier></noscript></amp-img>",
    "<x-photo src=/a.jpg alt=Pier></x-photo>", "<input type=image src=/a.jpg alt=Pier>",
    "<embed src=/a.jpg title=Pier>",
  ])
  func `The real one is shown once, with its words`(_ source: String) {
    let safe = SafeHTML("<p>x</p>" + source, base: "https://a.example/")
    #expect(safe.images.map(\.url) == ["https://a.example/a.jpg"])
    #expect(safe.html.split(separator: "<img", omittingEmptySubsequences: false).count == 2, "\(safe.html)")
    #expect(safe.text == "x\n\nPier")
    #expect(safe.losses.isEmpty)
  }

  @Test(arguments: [
    "unloading-ship.jpg", "lazy-sunday.jpg", "empty-quay.jpg", "downloader.png", "blanket.jpg", "dummy-run.webp",
    "pixel-art.png", "clear.sky.jpg", "loading_dock_7.jpg", "spacers.png", "transparent-fish.jpg", "a/lazy/b.jpg",
    "placeholder-names.gif",
  ])
  func `A file whose name only contains the word of a placeholder is a picture`(_ file: String) {
    let url = "https://a.example/" + file
    let inline = "data:image/gif;base64,R0lG"
    for source in [
      "<img src='\(inline)' data-src='\(url)' alt=Pier>", "<img src='\(inline)' srcset='\(url) 1x' alt=Pier>",
      "<img src=/blank.gif data-src='\(url)' alt=Pier>", "<img src='\(url)' data-any='/b.jpg' alt=Pier>",
      "<picture><source srcset='\(url)'><img src='\(inline)' alt=Pier></picture>", "<img src='\(url)' alt=Pier>",
    ] {
      let safe = SafeHTML(source, base: "https://a.example/")
      #expect(safe.images.map(\.url) == [url], "\(source)")
      #expect(safe.text == "Pier" && safe.losses.isEmpty)
    }
  }

  @Test(arguments: [
    "blank.gif", "ajax-loader.gif", "1x1.png", "placeholder-600x400.png", "transparent.gif", "img_placeholder.svg",
    "lazy-loading.svg", "spacer.gif?x=1", "t.gif", "loading.gif", "blank_1x1.gif", "Pixel.GIF",
  ])
  func `A placeholder gives way to the picture in any attribute`(_ file: String) {
    for attribute in ["data-any", "data-opt-src", "srcset"] {
      let source = "<img src='/\(file)' \(attribute)='/a.jpg' alt=Pier>"
      #expect(SafeHTML(source, base: "https://a.example/").images.map(\.url) == ["https://a.example/a.jpg"])
    }
  }

  @Test(arguments: [
    "data-opt-src='/a.jpg'", "nitro-lazy-src='/a.jpg'", "data-wpfc-original-src='/a.jpg'", "data-lazy-img='/a.jpg'",
    "data-hires='/a.jpg'", "data-imgsrc='/a.jpg'", "data-any='https://a.example/a.jpg'",
    "data-x-set='/b.jpg 300w, /a.jpg 900w'", "data-thumb='/b.jpg' data-large='/a.jpg'", "data-preview='/a.jpg'",
    "alt=/b.jpg data-x='/a.jpg'", "onerror=this.src=/b.jpg data-x='//a.example/a.jpg'",
    "data-x=photo.jpg data-y='/a.jpg'",
    "data-json='{\"u\":\"/b.jpg\"}' data-y='/a.jpg'", "style='background:url(/b.jpg' data-y='/a.jpg'",
  ])
  func `The address of a picture is found in an attribute of any name`(_ attribute: String) {
    for source in ["<img \(attribute)>", "<img src='data:image/gif;base64,R0lG' \(attribute)>"] {
      let safe = SafeHTML(source, base: "https://a.example/")
      #expect(safe.images.map(\.url) == ["https://a.example/a.jpg"], "\(safe.html)")
      #expect(safe.losses.isEmpty)
    }
  }

  @Test(arguments: [
    "alt=/b.jpg", "title='https://a.example/b.jpg'", "data-caption='see /b.jpg'", "data-file=b.jpg", "onerror=/b.jpg",
    "aria-label='/b.jpg'", "data-page='/b.html'", "class='/b.jpg'", "data-placeholder='/loading.gif'", "data-w=640",
  ])
  func `Words and other addresses are no pictures`(_ attribute: String) {
    #expect(SafeHTML("<img \(attribute)>", base: "https://a.example/").images.isEmpty)
    #expect(SafeHTML("<p>words</p><div data-photo='/b.jpg'>words</div>", base: "https://a.example/").images.isEmpty)
  }

  @Test(arguments: [
    "<picture><source srcset='/b.webp 1x, /a.jpg 2x'></picture>", "<div data-photo='https://a.example/a.jpg'></div>",
    "<span data-any='/a.jpg'></span>", "<section data-bgset='/b.jpg 1x, /a.jpg 2x'></section>",
    "<div style='background-image:url(\"/a.jpg\")'></div>",
    "<figure data-bg='url(/a.jpg)'> </figure>", "<div data-src=/a.jpg></div>",
  ])
  func `A picture without an element of its own is shown too`(_ source: String) {
    let safe = SafeHTML(source, base: "https://a.example/")
    #expect(safe.html.contains("<img src=\"https://a.example/a.jpg\"/>"), "\(safe.html)")
  }

  @Test func `Different pictures beside each other are both shown`() {
    let urls = { (source: String) in SafeHTML(source, base: "https://a.example/").images.map(\.url.last) }
    #expect(urls("<img src=/1><noscript><img src=/2></noscript>") == ["1", "2"])
    #expect(urls("<img data-src=/1.3><noscript><img src=/1.3></noscript><img data-src=/1.4>") == ["3", "4"])
    #expect(urls("<img src='data:x'>words<noscript><img src=/2></noscript>") == ["2"])
    #expect(SafeHTML("<img src='data:x'>words<noscript><img src=//a.example/2></noscript>").losses.count == 1)
  }
}
