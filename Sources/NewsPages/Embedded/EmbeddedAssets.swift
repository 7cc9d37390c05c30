// Made by scripts/embed from Sources/NewsPages/Assets; do not edit.
// swift-format-ignore-file

/// The names and texts of all files in Assets, sorted by name.
let embeddedAssets: [(name: String, text: String)] = [
  ("icon.svg", #"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#a3122a"/><path d="M7 8h18v4.5h-6.5V25h-5V12.5H7z" fill="#fff"/></svg>

"""#
  ),
  ("reader.css", #"""
:root {
  color-scheme: light dark;
  --paper: #fffdfa;
  --panel: #f4f1eb;
  --ink: #17191e;
  --soft: #575c66;
  --line: #dcd7cd;
  --strong-line: #17191e;
  --accent: #a3122a;
  --on-accent: #fff;
  --link: #0a4d8c;
  --serif: Charter, "Bitstream Charter", "Iowan Old Style", "Palatino Linotype", Georgia, "Liberation Serif", serif;
  --sans: system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}

@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a;
    --panel: #1d2026;
    --ink: #ece9e3;
    --soft: #abb0b9;
    --line: #363a43;
    --strong-line: #ece9e3;
    --accent: #ff8f93;
    --on-accent: #14161a;
    --link: #93c8ff;
  }
}

*, ::before, ::after { box-sizing: border-box; }

html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }

body {
  display: flex;
  flex-direction: column;
  min-height: 100vh;
  margin: 0;
  background: var(--paper);
  color: var(--ink);
  font: 1.0625rem/1.55 var(--serif);
  overflow-wrap: anywhere;
}

.wrap { width: 100%; max-width: 74rem; margin-inline: auto; padding-inline: 1rem; }

h1, h2, h3, h4, h5, h6 { line-height: 1.2; text-wrap: balance; margin: 0; }
p { margin: 0; }
ul { list-style: none; margin: 0; padding: 0; }
img, video { display: block; max-width: 100%; height: auto; }
/* The alternative text of a picture that cannot be loaded. */
img { color: var(--soft); font: .75rem/1.4 var(--sans); }
audio { display: block; width: 100%; }

a { color: inherit; text-decoration: none; }
a:hover { text-decoration: underline; text-decoration-thickness: .08em; text-underline-offset: .16em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: 2px; }
main:focus { outline: none; }

.skip {
  position: absolute;
  inset-inline-start: 1rem;
  top: -6rem;
  z-index: 2;
  padding: .6rem 1rem;
  background: var(--ink);
  color: var(--paper);
  font-family: var(--sans);
}
.skip:focus { top: .5rem; }

/* The note above a preview, in the console */
.preview-note { background: var(--ink); color: var(--paper); font: .9375rem/1.4 var(--sans); }
.preview-note .wrap { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem; padding-block: .6rem; }
.preview-note a { text-decoration: underline; }
.preview-note button { padding: .45rem .95rem; background: var(--paper); color: var(--ink); border: 1px solid var(--paper); border-radius: 4px; font: inherit; font-weight: 600; cursor: pointer; }
.preview-note :focus-visible { outline-color: var(--paper); }

/* Masthead */
.masthead { border-bottom: 1px solid var(--line); }
.masthead .brand {
  padding-block: 1.1rem .9rem;
  font-size: clamp(1.7rem, 1.2rem + 2.2vw, 2.7rem);
  font-weight: 700;
  line-height: 1.1;
  letter-spacing: -.02em;
}
.masthead .brand a:hover { text-decoration: none; color: var(--accent); }
.topics { border-top: 1px solid var(--line); }
.topics ul {
  display: flex;
  gap: 1.4rem;
  overflow-x: auto;
  scrollbar-width: none;
  font: 600 .9375rem/1.3 var(--sans);
}
.topics li { flex: none; }
.topics a { display: block; padding-block: .75rem; border-bottom: 3px solid transparent; }
.topics a:hover { text-decoration: none; border-color: var(--line); }
.topics a[aria-current] { border-color: var(--accent); }
.topics a:focus-visible { outline-offset: -3px; }

/* Lists */
main { flex: 1; padding-block: 1.75rem 3.5rem; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .3rem 1.5rem; }
.heading h1 { font: 700 1.1875rem/1.3 var(--sans); }
.heading p { font: .9375rem/1.3 var(--sans); }
.heading a { color: var(--link); text-decoration: underline; text-underline-offset: .16em; }
.heading { padding-bottom: .7rem; border-bottom: 2px solid var(--strong-line); margin-bottom: 1.5rem; }
.empty { padding-block: 3rem; color: var(--soft); text-align: center; }

.stories { display: grid; grid-template-columns: minmax(0, 1fr); }
.story { position: relative; padding-block: 1.25rem; }
.story:first-child { padding-top: 0; }
.story + .story { border-top: 1px solid var(--line); }
.pictured { display: grid; grid-template-columns: minmax(0, 1fr) 6.5rem; gap: 1.1rem; align-items: start; }
.pictured .picture { grid-column: 2; grid-row: 1; background: var(--panel); }
.picture img { width: 100%; aspect-ratio: 1; object-fit: cover; }
.story h2 { font-size: 1.25rem; letter-spacing: -.008em; }
.story h2 a::after { content: ""; position: absolute; inset: 0; }
.story .kicker { position: relative; z-index: 1; width: fit-content; }
.story:hover h2 a { text-decoration: underline; text-decoration-thickness: .06em; text-underline-offset: .14em; }
.story .excerpt {
  margin-top: .35rem;
  color: var(--soft);
  line-height: 1.5;
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 3;
  overflow: hidden;
}

/* The first story of a section leads. */
.stories:not(.continued) .story:first-child { padding-bottom: 1.75rem; }
.stories:not(.continued) .story:first-child h2 { font-size: clamp(1.75rem, 1.2rem + 2.1vw, 2.75rem); letter-spacing: -.02em; line-height: 1.12; }
.stories:not(.continued) .story:first-child .excerpt { font-size: 1.125rem; margin-top: .6rem; max-width: 42em; -webkit-line-clamp: 5; }
.stories:not(.continued) .pictured:first-child { display: block; }
.stories:not(.continued) .pictured:first-child .picture { margin-bottom: 1rem; }
.stories:not(.continued) .pictured:first-child img { aspect-ratio: 3 / 2; }

.kicker {
  display: flex;
  flex-wrap: wrap;
  gap: .2rem .9rem;
  margin-bottom: .35rem;
  color: var(--accent);
  font: 600 .8125rem/1.5 var(--sans);
}
.breaking { padding-inline: .45rem; border-radius: 2px; background: var(--accent); color: var(--on-accent); }
.meta {
  display: flex;
  flex-wrap: wrap;
  gap: .1rem .9rem;
  margin-top: .6rem;
  color: var(--soft);
  font: .8125rem/1.5 var(--sans);
}
.meta span { color: var(--ink); font-weight: 600; }

.pager {
  display: flex;
  flex-wrap: wrap;
  gap: .75rem;
  margin-top: 2rem;
  font: 600 .9375rem/1.3 var(--sans);
}
.pager a { padding: .75rem 1.15rem; border: 1px solid var(--strong-line); border-radius: 3px; }
.pager a:hover { background: var(--ink); color: var(--paper); text-decoration: none; }
.pager [rel=next] { margin-inline-start: auto; }

@media (min-width: 44rem) {
  .wrap { padding-inline: 1.75rem; }
  .pictured { grid-template-columns: minmax(0, 1fr) 11rem; gap: 1.75rem; }
  .picture img { aspect-ratio: 3 / 2; }
  .stories:not(.continued) .pictured:first-child { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 2.25rem; }
  .stories:not(.continued) .pictured:first-child .picture { margin: 0; }
}

@media (min-width: 62rem) {
  .stories { grid-template-columns: repeat(2, minmax(0, 1fr)); column-gap: 3.5rem; }
  .stories:not(.continued) .story:first-child { grid-column: 1 / -1; }
  .continued .story:nth-child(2) { padding-top: 0; border-top: 0; }
  .pictured { grid-template-columns: minmax(0, 1fr) 10rem; }
}

/* An item */
.item { max-width: 42rem; margin-inline: auto; }
.item h1 { font-size: clamp(1.85rem, 1.3rem + 2.4vw, 2.9rem); letter-spacing: -.02em; line-height: 1.12; }
.item .standfirst { margin-top: .9rem; color: var(--soft); font-size: 1.25rem; line-height: 1.45; }
.item > header { margin-bottom: 1.6rem; }
.item > header .kicker { margin-bottom: .6rem; }
.item > header .meta { margin-top: 1.1rem; padding-top: .8rem; border-top: 1px solid var(--line); font-size: .9375rem; }
figure { margin: 1.75rem 0; }
figure img { width: 100%; background: var(--panel); }
figcaption {
  display: flex;
  flex-wrap: wrap;
  gap: 0 .7rem;
  padding-top: .55rem;
  color: var(--soft);
  font: .875rem/1.45 var(--sans);
}
.credit { font-style: italic; }
.body { font-size: 1.1875rem; line-height: 1.65; }
.body > * + * { margin-top: 1.15em; }
.body a, .original a, .files a, .back a, .notice a { color: var(--link); text-decoration: underline; text-underline-offset: .16em; text-decoration-thickness: .07em; }
.body a:hover, .original a:hover, .files a:hover, .back a:hover, .notice a:hover { text-decoration-thickness: .14em; }
.body h2, .body h3, .body h4, .body h5, .body h6 { margin-top: 1.7em; font-size: 1.35em; letter-spacing: -.01em; }
.body h3 { font-size: 1.18em; }
.body h4, .body h5, .body h6 { font-size: 1em; }
.body h2 + *, .body h3 + *, .body h4 + * { margin-top: .6em; }
.body ul, .body ol { list-style: revert; padding-inline-start: 1.35em; }
.body li + li { margin-top: .35em; }
.body blockquote { margin-inline: 0; padding-inline-start: 1.15em; border-inline-start: 3px solid var(--accent); color: var(--soft); }
.body pre { padding: 1rem; background: var(--panel); font-size: .85em; line-height: 1.5; white-space: pre-wrap; }
.body code, .body pre { font-family: ui-monospace, "Liberation Mono", Menlo, Consolas, monospace; }
.body table { display: block; overflow-x: auto; border-collapse: collapse; font: .875rem/1.5 var(--sans); }
.body th, .body td { padding: .5rem .8rem .5rem 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: normal; }
.body hr { border: 0; border-top: 1px solid var(--line); margin-block: 2em; }
.files { margin-top: 2rem; padding: 1.1rem 1.25rem; background: var(--panel); font-family: var(--sans); font-size: .9375rem; }
.files h2 { font-size: 1rem; margin-bottom: .5rem; }
.files li + li { margin-top: .35rem; }
.files .type, .files .credit { color: var(--soft); font-size: .8125rem; }
.original { margin-top: 2rem; font: .9375rem/1.5 var(--sans); }
.back { max-width: 42rem; margin: 2.5rem auto 0; padding-top: 1rem; border-top: 1px solid var(--line); font: 600 .9375rem/1.5 var(--sans); }

/* Errors */
.notice { max-width: 34rem; padding-block: 2rem 3rem; }
.notice .status { color: var(--accent); font: 700 1rem/1.5 var(--sans); }
.notice h1 { font-size: clamp(1.85rem, 1.3rem + 2vw, 2.6rem); letter-spacing: -.02em; }
.notice p + p, .notice h1 + p, .notice blockquote + p { margin-top: 1rem; }
.notice blockquote { margin: 1.25rem 0; padding-inline-start: 1.15em; border-inline-start: 3px solid var(--accent); }

.footer { border-top: 1px solid var(--line); background: var(--panel); font: .875rem/1.5 var(--sans); color: var(--soft); }
.footer .wrap { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem 2rem; padding-block: 1.6rem; }
.footer .brand { color: var(--ink); font: 700 1.0625rem/1.3 var(--serif); }
.footer ul { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; }
.footer ul a { color: var(--link); text-decoration: underline; text-underline-offset: .16em; }

@media (prefers-reduced-motion: no-preference) {
  .topics a, .pager a { transition: background-color .15s, border-color .15s, color .15s; }
}

@media print {
  .topics, .pager, .skip, .back { display: none; }
}

"""#
  ),
]
