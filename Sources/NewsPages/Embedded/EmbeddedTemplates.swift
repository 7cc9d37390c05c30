// Made by scripts/embed from Sources/NewsPages/Templates; do not edit.
// swift-format-ignore-file

/// The names and texts of all files in Templates, sorted by name.
let embeddedTemplates: [(name: String, text: String)] = [
  ("error.mustache", #"""
{{>head}}
<div class="notice">
<p class="status" aria-hidden="true">{{status}}</p>
<h1>{{heading}}</h1>
<p>{{explanation}}</p>
{{#detail}}
<blockquote dir="auto">{{.}}</blockquote>
{{/detail}}
<p><a href="{{home}}">{{t.to-front}}</a></p>
</div>
{{>foot}}

"""#
  ),
  ("figure.mustache", #"""
<figure>
<img src="{{source}}" alt="{{alt}}"{{#width}} width="{{.}}"{{/width}}{{#height}} height="{{.}}"{{/height}}{{#isLazy}} loading="lazy"{{/isLazy}} decoding="async">
{{#hasCaption}}
<figcaption{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">{{#caption}}<span>{{.}}</span>{{/caption}}{{#credit}}<span class="credit">{{t.credit}} {{.}}</span>{{/credit}}</figcaption>
{{/hasCaption}}
</figure>

"""#
  ),
  ("foot.mustache", #"""
</main>
<footer class="footer">
<div class="wrap">
<p><a class="brand" href="{{home}}">{{siteName}}</a></p>
{{#hasFeeds}}
<nav aria-label="{{t.feeds}}">
<ul>
{{#feeds}}
<li><a href="{{href}}" type="{{type}}">{{format}}</a></li>
{{/feeds}}
</ul>
</nav>
{{/hasFeeds}}
<p>{{t.times}}</p>
</div>
</footer>
</body>
</html>

"""#
  ),
  ("head.mustache", #"""
<!doctype html>
<html lang="{{language}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{documentTitle}}</title>
{{#description}}
<meta name="description" content="{{.}}">
{{/description}}
{{#isUnlisted}}
<meta name="robots" content="noindex">
{{/isUnlisted}}
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="{{stylesheet}}">
<link rel="icon" type="image/svg+xml" href="{{icon}}">
{{#canonical}}
<link rel="canonical" href="{{.}}">
{{/canonical}}
{{#newer}}
<link rel="prev" href="{{.}}">
{{/newer}}
{{#older}}
<link rel="next" href="{{.}}">
{{/older}}
{{#feeds}}
<link rel="alternate" type="{{type}}" title="{{feedTitle}}" href="{{href}}">
{{/feeds}}
{{#properties}}
<meta property="{{property}}" content="{{content}}">
{{/properties}}
{{#card}}
<meta name="twitter:card" content="{{.}}">
{{/card}}
</head>
<body>
<a class="skip" href="#content">{{t.skip}}</a>
{{#note}}
{{{.}}}
{{/note}}
<header class="masthead">
<p class="brand wrap"><a href="{{home}}">{{siteName}}</a></p>
{{#hasTopics}}
<nav class="topics" aria-label="{{t.topics}}">
<ul class="wrap">
<li><a href="{{home}}"{{#isFront}} aria-current="page"{{/isFront}}>{{t.all-news}}</a></li>
{{#topics}}
<li><a href="{{href}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}{{#topicLanguage}} lang="{{.}}"{{/topicLanguage}}>{{topicTitle}}</a></li>
{{/topics}}
</ul>
</nav>
{{/hasTopics}}
</header>
<main id="content" class="wrap" tabindex="-1">

"""#
  ),
  ("item.mustache", #"""
{{>head}}
<article class="item">
<header>
{{#hasKicker}}
<p class="kicker">{{#isBreaking}}<strong class="breaking">{{t.breaking}}</strong>{{/isBreaking}}{{#labels}}<a href="{{href}}"{{#topicLanguage}} lang="{{.}}"{{/topicLanguage}}>{{topicTitle}}</a>{{/labels}}</p>
{{/hasKicker}}
<div{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">
<h1>{{headline}}</h1>
{{#summary}}
<p class="standfirst">{{.}}</p>
{{/summary}}
</div>
<p class="meta">{{#author}}<span>{{.}}</span>{{/author}}<time datetime="{{datetime}}">{{date}}</time></p>
</header>
{{#leads}}
{{>figure}}
{{/leads}}
{{#body}}
<div class="body"{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">
{{{.}}}
</div>
{{/body}}
{{#figures}}
{{>figure}}
{{/figures}}
{{#recordings}}
<figure class="recording">
{{#isVideo}}
<video controls preload="none" src="{{source}}"{{#width}} width="{{.}}"{{/width}}{{#height}} height="{{.}}"{{/height}}{{#alt}} aria-label="{{.}}"{{/alt}}></video>
{{/isVideo}}
{{^isVideo}}
<audio controls preload="none" src="{{source}}"{{#alt}} aria-label="{{.}}"{{/alt}}></audio>
{{/isVideo}}
{{#hasCaption}}
<figcaption{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">{{#caption}}<span>{{.}}</span>{{/caption}}{{#credit}}<span class="credit">{{t.credit}} {{.}}</span>{{/credit}}</figcaption>
{{/hasCaption}}
</figure>
{{/recordings}}
{{#hasFiles}}
<section class="files" aria-labelledby="files">
<h2 id="files">{{t.files}}</h2>
<ul>
{{#files}}
<li><a href="{{source}}" rel="noopener">{{fileName}}</a> <span class="type">{{type}}</span>{{#credit}} <span class="credit">{{t.credit}} {{.}}</span>{{/credit}}</li>
{{/files}}
</ul>
</section>
{{/hasFiles}}
{{#original}}
<p class="original"><a href="{{.}}" rel="external noopener">{{originalText}}</a></p>
{{/original}}
</article>
<p class="back"><a href="{{home}}"><span aria-hidden="true">← </span>{{t.all-news}}</a></p>
{{>foot}}

"""#
  ),
  ("list.mustache", #"""
{{>head}}
<div class="heading">
<h1{{#headingLanguage}} lang="{{.}}"{{/headingLanguage}}>{{heading}}</h1>
{{#isContinued}}
<p><a href="{{first}}">{{t.newest}}</a></p>
{{/isContinued}}
{{#notify}}
<div class="notify" id="notify" hidden data-worker="{{worker}}"{{#notifyTopic}} data-topic="{{.}}"{{/notifyTopic}} data-start="{{t.notify}}" data-stop="{{t.notify-stop}}" data-on="{{t.notify-on}}" data-all="{{t.notify-all}}" data-news="{{t.notify-news}}" data-denied="{{t.notify-denied}}" data-missing="{{t.notify-missing}}" data-busy="{{t.notify-busy}}" data-offline="{{t.notify-offline}}" data-failed="{{t.notify-failed}}">
<p role="status"></p>
<button type="button">{{t.notify}}</button>
</div>
<script src="{{notifyScript}}" defer></script>
{{/notify}}
</div>
{{#isEmpty}}
<p class="empty">{{t.empty}}</p>
{{/isEmpty}}
<div class="stories{{#isContinued}} continued{{/isContinued}}">
{{#stories}}
<article class="story{{#picture}} pictured{{/picture}}">
{{#picture}}
<div class="picture"><img src="{{source}}" alt="{{alt}}"{{#width}} width="{{.}}"{{/width}}{{#height}} height="{{.}}"{{/height}}{{#isLazy}} loading="lazy"{{/isLazy}} decoding="async"></div>
{{/picture}}
<div class="words">
{{#hasKicker}}
<p class="kicker">{{#isBreaking}}<strong class="breaking">{{t.breaking}}</strong>{{/isBreaking}}{{#labels}}<a href="{{href}}"{{#topicLanguage}} lang="{{.}}"{{/topicLanguage}}>{{topicTitle}}</a>{{/labels}}</p>
{{/hasKicker}}
<div{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">
<h2><a href="{{href}}">{{headline}}</a></h2>
{{#excerpt}}
<p class="excerpt">{{.}}</p>
{{/excerpt}}
</div>
<p class="meta">{{#author}}<span>{{.}}</span>{{/author}}<time datetime="{{datetime}}">{{date}}</time></p>
</div>
</article>
{{/stories}}
</div>
{{#hasPager}}
<nav class="pager" aria-label="{{t.pages}}">
{{#newer}}
<a rel="prev" href="{{.}}"><span aria-hidden="true">← </span>{{t.newer}}</a>
{{/newer}}
{{#older}}
<a rel="next" href="{{.}}">{{t.older}}<span aria-hidden="true"> →</span></a>
{{/older}}
</nav>
{{/hasPager}}
{{>foot}}

"""#
  ),
]
