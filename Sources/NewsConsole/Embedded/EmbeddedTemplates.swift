// Made by scripts/embed from Sources/NewsConsole/Templates; do not edit.
// swift-format-ignore-file

/// The names and texts of all files in Templates, sorted by name.
let embeddedTemplates: [(name: String, text: String)] = [
  ("alert.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject"{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">{{itemTitle}}</p>
{{#alertState}}
<p>{{.}}</p>
<p>{{t.alert-once}}</p>
<p class="actions">{{#alertPush}}<a class="button" href="{{.}}">{{t.alert-result}}</a> {{/alertPush}}<a href="{{cancel}}">{{t.back}}</a></p>
{{/alertState}}
{{#isAsking}}
{{#hasNoServices}}
<p class="note bad">{{t.no-services}}</p>
{{/hasNoServices}}
<p>{{#isPublished}}{{t.alert-now}}{{/isPublished}}{{^isPublished}}{{t.alert-later}}{{/isPublished}} {{t.alert-once}}</p>
<section class="preview" aria-labelledby="look">
<h2 id="look">{{t.alert-look}}</h2>
{{#isBreaking}}
<p><strong class="breaking">{{t.field-breaking}}</strong></p>
{{/isBreaking}}
<p class="title"{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">{{alertTitle}}</p>
{{#alertText}}
<p class="excerpt"{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">{{.}}</p>
{{/alertText}}
<p class="hint">{{t.alert-look-hint}}</p>
</section>
<dl class="figures">
<div><dt>{{t.alert-devices}}</dt><dd><strong>{{devices}}</strong></dd></div>
{{#services}}
<div><dt>{{serviceName}}</dt><dd><strong>{{serviceDevices}}</strong></dd></div>
{{/services}}
{{#quietDevices}}
<div><dt>{{t.alert-quiet}}</dt><dd><strong>{{.}}</strong> <span>{{t.alert-quiet-text}}</span></dd></div>
{{/quietDevices}}
</dl>
<p class="hint">{{t.alert-devices-hint}}{{#hasNoDevices}} {{t.alert-nobody}}{{/hasNoDevices}}</p>
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<p class="actions"><button class="primary">{{t.alert-button}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
{{/isAsking}}
</div>
{{>foot}}

"""#
  ),
  ("confirmation.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject"{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">{{itemTitle}}</p>
<p>{{explanation}}{{#isLive}} {{t.confirmation-live}}{{/isLive}}</p>
<form class="stack" method="post" action="{{action}}"{{#isEditing}} enctype="multipart/form-data"{{/isEditing}}>
<input type="hidden" name="csrf" value="{{csrf}}">
{{#hidden}}
<input type="hidden" name="{{hiddenName}}" value="{{hiddenValue}}">
{{/hidden}}
<p class="actions"><button class="danger"{{#isEditing}} name="action" value="withdraw"{{/isEditing}}>{{button}}</button> {{#isEditing}}<button name="action" value="edit">{{t.cancel}}</button>{{/isEditing}}{{#cancel}}<a class="button" href="{{.}}">{{t.cancel}}</a>{{/cancel}}</p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("conflict.mustache", #"""
{{>head}}
{{>notices}}
<h1>{{heading}}</h1>
{{#stateChange}}
<p class="note">{{.}}</p>
{{/stateChange}}
<p class="facts"><strong>{{storedBy}}, <time datetime="{{editedMachine}}">{{edited}}</time></strong><span class="state {{state}}">{{stateTitle}}</span><a href="{{history}}">{{t.history}}</a></p>
{{#isSame}}
<p>{{t.conflict-same}}</p>
{{/isSame}}
{{#comparisons}}
<section class="compared" aria-labelledby="compared-{{comparedName}}">
<h2 id="compared-{{comparedName}}">{{comparedField}}</h2>
<div class="versions">
<div class="version">
<h3>{{storedBy}}</h3>
<div class="text" dir="auto">{{#theirs}}{{#kept}}{{.}}{{/kept}}{{#differing}}<mark>{{.}}</mark>{{/differing}}{{#skipped}} <span class="skipped">{{.}}</span> {{/skipped}}{{/theirs}}{{^hasTheirs}}<span class="skipped">{{t.empty-field}}</span>{{/hasTheirs}}</div>
</div>
<div class="version">
<h3>{{t.mine}}</h3>
<div class="text" dir="auto">{{#mine}}{{#kept}}{{.}}{{/kept}}{{#differing}}<mark>{{.}}</mark>{{/differing}}{{#skipped}} <span class="skipped">{{.}}</span> {{/skipped}}{{/mine}}{{^hasMine}}<span class="skipped">{{t.empty-field}}</span>{{/hasMine}}</div>
</div>
</div>
</section>
{{/comparisons}}
<form method="post" action="{{action}}" enctype="multipart/form-data">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="state" value="{{state}}">
{{#hidden}}
<input type="hidden" name="{{hiddenName}}" value="{{hiddenValue}}">
{{/hidden}}
<p class="actions">
<button class="primary" name="action" value="{{sentAction}}">{{sentTitle}}</button>
<button name="action" value="edit">{{t.edit-mine}}</button>
<a class="button" href="{{discard}}">{{t.discard-mine}}</a>
</p>
</form>
{{>foot}}

"""#
  ),
  ("editor.mustache", #"""
{{>head}}
{{>notices}}
<div class="bar">
<h1 dir="auto">{{heading}}</h1>
{{#itemID}}
<p class="facts"><span class="state {{state}}">{{stateTitle}}</span><span>{{t.edited}} <time datetime="{{editedMachine}}">{{edited}}</time></span>{{#history}}<a href="{{.}}">{{t.history}}</a>{{/history}}{{#readerLink}}<a href="{{.}}">{{t.reader-page}}</a>{{/readerLink}}{{#alertLink}}<a href="{{.}}">{{t.alert-readers}}</a>{{/alertLink}}{{#alertState}}<span>{{.}}</span>{{/alertState}}{{#alertPush}}<a href="{{.}}">{{t.alert-result}}</a>{{/alertPush}}</p>
{{/itemID}}
</div>
{{#readOnlyReason}}
<p class="note">{{.}}</p>
{{/readOnlyReason}}
{{#retractionReason}}
<p class="note">{{t.field-retractionReason}}: <span dir="auto">{{.}}</span></p>
{{/retractionReason}}
{{#isErased}}
<p class="note">{{t.erased}}</p>
{{/isErased}}
<form class="editor" id="editor" method="post" action="{{action}}" enctype="multipart/form-data" data-unsaved="{{#isUnsaved}}true{{/isUnsaved}}" data-autosave="{{#isAutosaved}}true{{/isAutosaved}}" data-saving="{{t.js-saving}}" data-saved="{{t.js-saved}}" data-offline="{{t.js-offline}}" data-server="{{t.js-server}}" data-conflict="{{t.js-conflict}}" data-refused="{{t.js-refused}}" data-changed="{{t.js-changed}}" data-progress="{{t.js-uploading}}" data-failed="{{t.js-upload-failed}}" data-zone="{{t.js-zone}}">
<input type="hidden" name="csrf" value="{{csrf}}">
{{#id}}
<input type="hidden" name="id" value="{{.}}">
{{/id}}
{{#revision}}
<input type="hidden" name="revision" value="{{.}}">
{{/revision}}
{{#state}}
<input type="hidden" name="state" value="{{.}}">
{{/state}}
{{#maySave}}
<button class="unseen" name="action" value="save" tabindex="-1" aria-hidden="true">{{t.save}}</button>
{{/maySave}}
<fieldset class="columns"{{#isReadOnly}} disabled{{/isReadOnly}}>
<legend class="unseen">{{t.content}}</legend>
<div class="main">
<div class="field">
<label for="title">{{t.field-title}}</label>
<input id="title" name="title" type="text" value="{{field.title}}" dir="auto"{{#errors.title}} aria-invalid="true" aria-describedby="title-error"{{/errors.title}}>
{{#errors.title}}
<p class="error" id="title-error">{{.}}</p>
{{/errors.title}}
</div>
<div class="field">
<label for="summary">{{t.field-summary}}</label>
<textarea id="summary" name="summary" rows="3" dir="auto"{{#errors.summary}} aria-invalid="true" aria-describedby="summary-error"{{/errors.summary}}>
{{field.summary}}</textarea>
{{#errors.summary}}
<p class="error" id="summary-error">{{.}}</p>
{{/errors.summary}}
</div>
<div class="field">
<label for="text">{{t.field-text}}</label>
<textarea class="tall" id="text" name="text" rows="14" dir="auto" aria-describedby="text-hint{{#errors.text}} text-error{{/errors.text}}"{{#errors.text}} aria-invalid="true"{{/errors.text}}>
{{field.text}}</textarea>
<p class="hint" id="text-hint">{{t.text-hint}}</p>
{{#errors.text}}
<p class="error" id="text-error">{{.}}</p>
{{/errors.text}}
{{#hasHTML}}
<fieldset class="choices">
<legend>{{t.html-choice}}</legend>
<p class="check"><input id="html-remove" name="htmlChoice" type="radio" value="remove"{{#removesHTML}} checked{{/removesHTML}}> <label for="html-remove">{{t.html-remove}}</label></p>
<p class="check"><input id="html-keep" name="htmlChoice" type="radio" value="keep"{{#keepsHTML}} checked{{/keepsHTML}}> <label for="html-keep">{{t.html-keep}}</label></p>
</fieldset>
{{/hasHTML}}
</div>
<div class="field">
<label for="html">{{t.field-html}}</label>
<textarea class="source" id="html" name="html" rows="8" dir="auto" spellcheck="false" aria-describedby="html-hint{{#errors.html}} html-error{{/errors.html}}"{{#errors.html}} aria-invalid="true"{{/errors.html}}>
{{field.html}}</textarea>
<p class="hint" id="html-hint">{{t.html-hint}}</p>
{{#errors.html}}
<p class="error" id="html-error">{{.}}</p>
{{/errors.html}}
</div>
<section class="attachments" id="attachments" aria-labelledby="attachments-title">
<h2 id="attachments-title">{{t.field-attachments}}</h2>
{{#attachments}}
<fieldset class="attachment">
<legend>{{t.attachment}} {{attachmentNumber}}</legend>
{{#thumbnail}}
<img src="{{.}}" alt="{{attachment-alt}}" loading="lazy" decoding="async">
{{/thumbnail}}
<div class="details">
<p class="facts"><span>{{attachment-type}}</span><span class="address">{{attachment-url}}</span></p>
<input type="hidden" name="attachment-{{attachmentIndex}}-url" value="{{attachment-url}}">
<input type="hidden" name="attachment-{{attachmentIndex}}-type" value="{{attachment-type}}">
<input type="hidden" name="attachment-{{attachmentIndex}}-bytes" value="{{attachment-bytes}}">
<input type="hidden" name="attachment-{{attachmentIndex}}-width" value="{{attachment-width}}">
<input type="hidden" name="attachment-{{attachmentIndex}}-height" value="{{attachment-height}}">
<input type="hidden" name="attachment-{{attachmentIndex}}-sha256" value="{{attachment-sha256}}">
<div class="field">
<label for="attachment-{{attachmentIndex}}-alt">{{t.field-alt}}</label>
<input id="attachment-{{attachmentIndex}}-alt" name="attachment-{{attachmentIndex}}-alt" type="text" value="{{attachment-alt}}" dir="auto"{{#altError}} aria-invalid="true" aria-describedby="attachment-{{attachmentIndex}}-alt-error"{{/altError}}>
{{#altError}}
<p class="error" id="attachment-{{attachmentIndex}}-alt-error">{{.}}</p>
{{/altError}}
</div>
<div class="field">
<label for="attachment-{{attachmentIndex}}-caption">{{t.field-caption}}</label>
<input id="attachment-{{attachmentIndex}}-caption" name="attachment-{{attachmentIndex}}-caption" type="text" value="{{attachment-caption}}" dir="auto"{{#captionError}} aria-invalid="true" aria-describedby="attachment-{{attachmentIndex}}-caption-error"{{/captionError}}>
{{#captionError}}
<p class="error" id="attachment-{{attachmentIndex}}-caption-error">{{.}}</p>
{{/captionError}}
</div>
<div class="field">
<label for="attachment-{{attachmentIndex}}-credit">{{t.field-credit}}</label>
<input id="attachment-{{attachmentIndex}}-credit" name="attachment-{{attachmentIndex}}-credit" type="text" value="{{attachment-credit}}" dir="auto"{{#creditError}} aria-invalid="true" aria-describedby="attachment-{{attachmentIndex}}-credit-error"{{/creditError}}>
{{#creditError}}
<p class="error" id="attachment-{{attachmentIndex}}-credit-error">{{.}}</p>
{{/creditError}}
</div>
<p class="check"><input id="attachment-{{attachmentIndex}}-remove" name="attachment-{{attachmentIndex}}-remove" type="checkbox"{{#isRemoved}} checked{{/isRemoved}}> <label for="attachment-{{attachmentIndex}}-remove">{{t.remove}}</label></p>
</div>
</fieldset>
{{/attachments}}
{{^hasAttachments}}
<p class="hint">{{t.no-attachments}}</p>
{{/hasAttachments}}
{{#errors.attachments}}
<p class="error">{{.}}</p>
{{/errors.attachments}}
</section>
{{#mayUpload}}
<div class="drop field">
<label for="upload">{{t.upload-files}}</label>
<input id="upload" name="upload" type="file" multiple accept="{{accept}}" aria-describedby="upload-hint">
<p class="hint" id="upload-hint">{{t.upload-hint}}</p>
</div>
{{/mayUpload}}
{{#hasFiles}}
<details>
<summary>{{t.choose-files}}</summary>
<ul class="grid small">
{{#files}}
<li>
<input id="choose-{{fileID}}" name="choose" type="checkbox" value="{{fileID}}">
<label for="choose-{{fileID}}">{{#fileThumbnail}}<img src="{{.}}" alt="" loading="lazy" decoding="async">{{/fileThumbnail}}<span>{{fileName}}</span></label>
</li>
{{/files}}
</ul>
</details>
{{/hasFiles}}
<p class="actions"><button name="action" value="attach">{{t.attach}}</button></p>
</div>
<div class="side">
{{#hasTopics}}
<fieldset class="choices" id="topics"{{#errors.topics}} aria-describedby="topics-error"{{/errors.topics}}>
<legend>{{t.field-topics}}</legend>
{{>topic-choices}}
</fieldset>
{{/hasTopics}}
{{#errors.topics}}
<p class="error" id="topics-error">{{.}}</p>
{{/errors.topics}}
<div class="field">
<label for="language">{{t.field-language}}</label>
<input id="language" name="language" type="text" value="{{field.language}}" autocomplete="off" aria-describedby="language-hint{{#errors.language}} language-error{{/errors.language}}"{{#errors.language}} aria-invalid="true"{{/errors.language}}>
<p class="hint" id="language-hint">{{t.language-hint}}</p>
{{#errors.language}}
<p class="error" id="language-error">{{.}}</p>
{{/errors.language}}
</div>
<div class="field">
<label for="author">{{t.field-author}}</label>
<input id="author" name="author" type="text" value="{{field.author}}" dir="auto"{{#errors.author}} aria-invalid="true" aria-describedby="author-error"{{/errors.author}}>
{{#errors.author}}
<p class="error" id="author-error">{{.}}</p>
{{/errors.author}}
</div>
<div class="field">
<label for="url">{{t.field-url}}</label>
<input id="url" name="url" type="text" inputmode="url" value="{{field.url}}"{{#errors.url}} aria-invalid="true" aria-describedby="url-error"{{/errors.url}}>
{{#errors.url}}
<p class="error" id="url-error">{{.}}</p>
{{/errors.url}}
</div>
{{#times}}
<div class="field">
<label for="{{timeName}}">{{timeLabel}}</label>
<input id="{{timeName}}" name="{{timeName}}" type="datetime-local" step="any" value="{{timeValue}}" aria-describedby="{{timeName}}-hint{{#timeNote}} {{timeName}}-note{{/timeNote}}{{#timeError}} {{timeName}}-error{{/timeError}}"{{#timeError}} aria-invalid="true"{{/timeError}}>
<p class="hint" id="{{timeName}}-hint">{{t.utc-hint}}</p>
{{#timeNote}}
<p class="hint" id="{{timeName}}-note">{{.}}</p>
{{/timeNote}}
{{#timeError}}
<p class="error" id="{{timeName}}-error">{{.}}</p>
{{/timeError}}
</div>
{{/times}}
<p class="check"><input id="breaking" name="breaking" type="checkbox"{{#breaking}} checked{{/breaking}}> <label for="breaking">{{t.field-breaking}}</label></p>
{{#offersAlert}}
<p class="check"><input id="alert" name="alert" type="checkbox" aria-describedby="alert-hint"{{#requestsAlert}} checked{{/requestsAlert}}> <label for="alert">{{t.alert-readers}}</label></p>
<p class="hint" id="alert-hint">{{t.alert-hint}}</p>
{{/offersAlert}}
</div>
</fieldset>
<div class="buttons">
{{#maySave}}
<button class="primary" name="action" value="save">{{#itemID}}{{t.save}}{{/itemID}}{{^itemID}}{{t.save-draft}}{{/itemID}}</button>
{{#mayReview}}
<button name="action" value="review">{{t.send-to-review}}</button>
{{/mayReview}}
{{#mayPublish}}
<button name="action" value="publish">{{t.publish}}</button>
<button name="action" value="schedule">{{t.schedule}}</button>
{{/mayPublish}}
{{#mayWithdraw}}
<button name="action" value="withdraw">{{t.withdraw}}</button>
{{/mayWithdraw}}
{{#preview}}
<button class="quiet" name="action" value="edit" formaction="{{.}}" formtarget="_blank">{{t.preview}}</button>
{{/preview}}
{{/maySave}}
<span class="status" role="status" data-status></span>
<span class="ends">{{#retraction}}<a href="{{.}}">{{t.retract}}</a>{{/retraction}}{{#erasure}} <a href="{{.}}">{{t.take-down}}</a>{{/erasure}}</span>
</div>
</form>
{{>foot}}

"""#
  ),
  ("end.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject"{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto">{{itemTitle}}</p>
<p>{{explanation}}</p>
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="revision" value="{{revision}}">
<div class="field">
<label for="reason">{{t.field-reason}}</label>
<textarea id="reason" name="reason" rows="3" dir="auto" aria-describedby="reason-hint{{#reasonError}} reason-error{{/reasonError}}"{{#reasonError}} aria-invalid="true"{{/reasonError}}>
{{reason}}</textarea>
<p class="hint" id="reason-hint">{{t.reason-hint}}</p>
{{#reasonError}}
<p class="error" id="reason-error">{{.}}</p>
{{/reasonError}}
</div>
<p class="actions"><button class="danger">{{button}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("error.mustache", #"""
{{>head}}
<div class="narrow">
<p class="code" aria-hidden="true">{{status}}</p>
<h1>{{heading}}</h1>
<p>{{explanation}}</p>
{{#detail}}
<blockquote dir="auto">{{.}}</blockquote>
{{/detail}}
{{#hasFieldErrors}}
<ul class="errors">
{{#fieldErrors}}
<li>{{problemField}}: {{problemRule}}</li>
{{/fieldErrors}}
</ul>
{{/hasFieldErrors}}
<p><a href="{{backLink}}">{{t.to-console}}</a></p>
</div>
{{>foot}}

"""#
  ),
  ("files.mustache", #"""
{{>head}}
{{>notices}}
<h1>{{heading}}</h1>
{{#keepsNoFiles}}
<p class="note">{{t.keeps-no-files}}</p>
{{/keepsNoFiles}}
{{#mayUpload}}
<form class="drop" id="upload" method="post" action="{{action}}" enctype="multipart/form-data" data-progress="{{t.js-uploading}}" data-drop="{{t.js-drop}}" data-failed="{{t.js-upload-failed}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<div class="field">
<label for="upload-files">{{t.upload-files}}</label>
<input id="upload-files" name="upload" type="file" multiple accept="image/*,audio/*,video/*,application/pdf" aria-describedby="upload-hint">
<p class="hint" id="upload-hint">{{t.upload-hint}} {{uploadLimit}}</p>
</div>
<p class="actions"><button class="primary">{{t.upload}}</button></p>
<p class="status" role="status" data-status></p>
</form>
{{/mayUpload}}
<nav class="tabs" aria-label="{{t.files-filter}}">
<ul>
{{#filters}}
<li><a href="{{tabLink}}"{{#isCurrentTab}} aria-current="page"{{/isCurrentTab}}>{{tabTitle}}</a></li>
{{/filters}}
</ul>
</nav>
{{#isEmpty}}
<p class="empty">{{t.no-files}}</p>
{{/isEmpty}}
<ul class="grid">
{{#files}}
<li>
<a class="picture" href="{{fileLink}}">{{#fileThumbnail}}<img src="{{.}}" alt="{{fileName}}" loading="lazy" decoding="async">{{/fileThumbnail}}{{^fileThumbnail}}<span class="kind">{{fileName}}</span>{{/fileThumbnail}}</a>
<p class="name">{{fileName}}</p>
<p class="facts"><span>{{fileType}}</span><span>{{fileSize}}</span>{{#fileWidth}}<span>{{.}} × {{fileHeight}}</span>{{/fileWidth}}{{#fileTime}}<time datetime="{{fileMachine}}">{{.}}</time>{{/fileTime}}</p>
<p class="facts">{{#isPublic}}<span class="state published">{{t.public}}</span>{{/isPublic}}{{^isUsed}}<span>{{t.unused}}</span>{{/isUsed}}{{#isUsed}}<span>{{#hasUses}}{{t.used-in}}{{/hasUses}}{{^hasUses}}{{t.files-used}}{{/hasUses}}</span>{{/isUsed}}</p>
{{#hasUses}}
<ul class="uses">
{{#uses}}
<li><a href="{{useLink}}"{{#useLanguage}} lang="{{.}}"{{/useLanguage}} dir="auto">{{useTitle}}</a></li>
{{/uses}}
{{#hasOtherUses}}
<li>{{t.other-uses}}</li>
{{/hasOtherUses}}
</ul>
{{/hasUses}}
</li>
{{/files}}
</ul>
{{>pager}}
{{>foot}}

"""#
  ),
  ("first-run.mustache", #"""
{{>head}}
<h1>{{heading}}</h1>
<p>{{^isPublished}}{{t.first-run-text}}{{/isPublished}}{{#isPublished}}{{t.first-run-published-text}}{{/isPublished}}</p>
<ol class="steps">
<li>
<h2>{{t.first-run-source}}</h2>
<p class="facts">{{#isSourceDone}}<span class="state published">{{t.first-run-done}}</span>{{/isSourceDone}}{{^isSourceDone}}<span class="state">{{t.first-run-open}}</span>{{/isSourceDone}}</p>
{{#subscribe}}
<p>{{t.first-run-subscribe-text}}</p>
<p><a class="button" href="{{.}}">{{t.first-run-subscribe}}</a></p>
{{/subscribe}}
{{^subscribe}}
<p>{{t.first-run-ask-text}}</p>
{{/subscribe}}
<p>{{t.first-run-import-text}}</p>
<pre class="command" data-copy="{{t.copy}}" data-copied="{{t.copied}}"><code>tidings import FILE</code></pre>
</li>
<li>
<h2>{{t.first-run-write}}</h2>
<p class="facts">{{#isPublished}}<span class="state published">{{t.first-run-done}}</span>{{/isPublished}}{{^isPublished}}{{#isDraftDone}}<span class="state review">{{t.first-run-begun}}</span>{{/isDraftDone}}{{^isDraftDone}}<span class="state">{{t.first-run-open}}</span>{{/isDraftDone}}{{/isPublished}}</p>
{{#drafts}}
<p>{{t.first-run-publish-text}}</p>
<p class="actions"><a class="button primary" href="{{.}}">{{t.first-run-drafts}}</a><a class="button" href="{{newItem}}">{{t.new-item}}</a></p>
{{/drafts}}
{{^drafts}}
<p>{{t.first-run-write-text}}</p>
<p><a class="button primary" href="{{newItem}}">{{t.new-item}}</a></p>
{{/drafts}}
</li>
<li>
<h2>{{t.first-run-read}}</h2>
<p class="facts"><span class="state">{{^isPublished}}{{t.first-run-later}}{{/isPublished}}{{#isPublished}}{{t.first-run-open}}{{/isPublished}}</span></p>
<p>{{t.first-run-read-text}}</p>
{{#reader}}
<p><a class="button" href="{{.}}">{{t.reader-page}}</a></p>
{{/reader}}
<p>{{t.first-run-fetch-text}}</p>
<pre class="command" data-copy="{{t.copy}}" data-copied="{{t.copied}}"><code>{{fetchCommands}}</code></pre>
</li>
</ol>
{{#isPublished}}
<p class="actions"><a class="button" href="{{items}}">{{t.first-run-drafts}}</a></p>
{{/isPublished}}
{{>foot}}

"""#
  ),
  ("foot.mustache", #"""
</main>
<footer class="foot">
<div class="wrap">
<p>{{t.times}}</p>
{{#readerSite}}
<p><a href="{{.}}">{{t.reader-page}}</a></p>
{{/readerSite}}
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
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>{{documentTitle}}</title>
<link rel="stylesheet" href="{{stylesheet}}">
<link rel="icon" type="image/svg+xml" href="{{icon}}">
<script src="{{script}}" defer></script>
</head>
<body>
<a class="skip" href="#content">{{t.skip}}</a>
<header class="top">
<div class="wrap">
<p class="brand"><a href="{{home}}">{{siteName}}</a></p>
{{#isSignedIn}}
<button class="quiet open-menu" type="button" popovertarget="menu">{{t.menu}}</button>
<nav class="menu" id="menu" popover aria-label="{{t.navigation}}">
<ul>
{{#sections}}
<li><a href="{{sectionLink}}"{{#isCurrentSection}} aria-current="page"{{/isCurrentSection}}>{{sectionTitle}}</a></li>
{{/sections}}
</ul>
</nav>
<form class="account" method="post" action="{{signOut}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<span class="key">{{keyName}}</span>
<button class="quiet">{{t.sign-out}}</button>
</form>
{{/isSignedIn}}
</div>
</header>
<main id="content" class="wrap" tabindex="-1">

"""#
  ),
  ("history.mustache", #"""
{{>head}}
{{>notices}}
<h1>{{heading}}</h1>
<p><a href="{{itemLink}}" dir="auto">{{itemTitle}}</a></p>
<ol class="history">
{{#entries}}
<li>
<h2>{{t.revision}} {{entryRevision}}</h2>
<p class="facts"><time datetime="{{entryMachine}}">{{entryTime}}</time><span>{{entryEditor}}</span><span class="state {{entryState}}">{{entryStateTitle}}</span></p>
{{#isCreation}}
<p>{{t.created}}</p>
{{/isCreation}}
{{#changes}}
<section class="compared">
<h3>{{changedField}}</h3>
<div class="text" dir="auto">{{#difference}}{{#kept}}{{.}}{{/kept}}{{#removed}}<del>{{.}}</del>{{/removed}}{{#added}}<ins>{{.}}</ins>{{/added}}{{#skipped}} <span class="skipped">{{.}}</span> {{/skipped}}{{/difference}}</div>
</section>
{{/changes}}
{{#restoration}}
<form method="post" action="{{.}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="revision" value="{{revision}}">
<button>{{t.restore}} {{entryRevision}}</button>
</form>
{{/restoration}}
</li>
{{/entries}}
</ol>
{{#isIncomplete}}
<p>{{t.history-incomplete}}</p>
{{/isIncomplete}}
{{>pager}}
{{>foot}}

"""#
  ),
  ("items.mustache", #"""
{{>head}}
{{>notices}}
<div class="bar">
<h1>{{heading}}</h1>
{{#newItem}}
<p><a class="button primary" href="{{.}}">{{t.new-item}}</a></p>
{{/newItem}}
</div>
{{#firstRun}}
<p class="note"><a href="{{.}}">{{t.first-run-title}}</a>: {{t.first-run-hint}}</p>
{{/firstRun}}
<nav class="tabs" aria-label="{{t.states}}">
<ul>
{{#tabs}}
<li><a href="{{tabLink}}"{{#isCurrentTab}} aria-current="page"{{/isCurrentTab}}>{{tabTitle}} <span class="count">{{tabCount}}</span></a></li>
{{/tabs}}
</ul>
</nav>
<form class="filter" method="get" action="{{listLink}}" role="search">
{{#stateName}}
<input type="hidden" name="state" value="{{.}}">
{{/stateName}}
<div class="field grow">
<label for="search">{{t.search}}</label>
<input id="search" name="q" type="search" value="{{search}}" maxlength="200">
</div>
<div class="field">
<label for="topic">{{t.topic}}</label>
<select id="topic" name="topic">
<option value="">{{t.all-topics}}</option>
{{#topics}}
<option value="{{topicSlug}}"{{#isSelected}} selected{{/isSelected}}>{{topicTitle}}</option>
{{/topics}}
</select>
</div>
<div class="field">
<label for="from">{{t.from}}</label>
<input id="from" name="from" type="date" value="{{firstDay}}">
</div>
<div class="field">
<label for="to">{{t.to}}</label>
<input id="to" name="to" type="date" value="{{lastDay}}">
</div>
<p class="actions"><button>{{t.filter}}</button>{{#unfiltered}} <a href="{{.}}">{{t.unfilter}}</a>{{/unfiltered}}</p>
</form>
{{#isEmpty}}
<p class="empty">{{#isFiltered}}{{t.nothing-found}}{{/isFiltered}}{{^isFiltered}}{{t.no-items}}{{/isFiltered}}</p>
{{/isEmpty}}
<ul class="rows">
{{#items}}
<li>
<p class="title"{{#itemLanguage}} lang="{{.}}"{{/itemLanguage}} dir="auto"><a href="{{itemLink}}">{{itemTitle}}</a></p>
<p class="facts"><span class="state {{itemState}}">{{itemStateTitle}}</span>{{#isBreaking}}<strong class="breaking">{{t.field-breaking}}</strong>{{/isBreaking}}{{#publishTime}}<span>{{t.for}} <time datetime="{{publishMachine}}">{{.}}</time></span>{{/publishTime}}{{#itemTopics}}<span class="topic">{{itemTopic}}</span>{{/itemTopics}}{{#otherTopicCount}}<span>+{{.}}</span>{{/otherTopicCount}}<span>{{t.edited}} <time datetime="{{editedMachine}}">{{edited}}</time></span></p>
</li>
{{/items}}
</ul>
{{>pager}}
{{>foot}}

"""#
  ),
  ("keys-exists.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject" dir="auto">{{keyLabel}}</p>
{{>keys-facts}}
<p class="actions">{{#rotation}}<a class="button primary" href="{{.}}">{{t.rotate}}</a> {{/rotation}}<a class="button" href="{{newKey}}">{{t.new-key}}</a> <a href="{{keysLink}}">{{t.to-keys}}</a></p>
</div>
{{>foot}}

"""#
  ),
  ("keys-facts.mustache", #"""
<p class="facts"><span class="state {{keyState}}">{{keyStateTitle}}</span>{{#isOwnKey}}<span class="state published">{{t.own-key}}</span>{{/isOwnKey}}<span>{{keyID}}</span></p>
<p class="facts"><span>{{t.field-scopes}}: {{keyScopes}}</span>{{#isRestricted}}<span>{{t.only-topics}}: {{keyTopics}}</span>{{/isRestricted}}</p>
<p class="facts"><span>{{t.key-created-at}} <time datetime="{{createdMachine}}">{{createdTime}}</time></span>{{#revokedTime}}<span>{{t.key-revoked}} <time datetime="{{revokedMachine}}">{{.}}</time></span>{{/revokedTime}}{{^revokedTime}}{{#expiresTime}}<span>{{t.field-expireAt}} <time datetime="{{expiresMachine}}">{{.}}</time></span>{{/expiresTime}}{{^expiresTime}}<span>{{t.never-expires}}</span>{{/expiresTime}}{{/revokedTime}}{{#lastUseTime}}<span>{{t.last-use}} <time datetime="{{lastUseMachine}}">{{.}}</time></span>{{/lastUseTime}}{{^lastUseTime}}<span>{{t.never-used}}</span>{{/lastUseTime}}</p>
{{#previousEndTime}}
<p class="facts"><span>{{t.previous-secret}} <time datetime="{{previousEndMachine}}">{{.}}</time></span></p>
{{/previousEndTime}}

"""#
  ),
  ("keys-form.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<form class="stack" id="key" method="post" action="{{action}}" data-zone="{{t.js-zone}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="id" value="{{keyID}}">
<div class="field">
<label for="name">{{t.field-name}}</label>
<input id="name" name="name" type="text" value="{{name}}" dir="auto" required autocomplete="off" aria-describedby="name-hint{{#errors.name}} name-error{{/errors.name}}"{{#errors.name}} aria-invalid="true"{{/errors.name}}>
<p class="hint" id="name-hint">{{t.key-name-hint}}</p>
{{#errors.name}}
<p class="error" id="name-error">{{.}}</p>
{{/errors.name}}
</div>
<fieldset id="scopes"{{#errors.scopes}} aria-describedby="scopes-error"{{/errors.scopes}}>
<legend>{{t.field-scopes}}</legend>
{{#scopes}}
<p class="check"><input id="scope-{{scopeName}}" name="scopes" type="checkbox" value="{{scopeName}}"{{#isSelectedScope}} checked{{/isSelectedScope}}> <label for="scope-{{scopeName}}">{{scopeTitle}} <span class="count">{{scopeName}}</span></label></p>
{{/scopes}}
{{#errors.scopes}}
<p class="error" id="scopes-error">{{.}}</p>
{{/errors.scopes}}
</fieldset>
{{#hasTopics}}
<fieldset class="choices" id="topics" aria-describedby="topics-hint{{#errors.topics}} topics-error{{/errors.topics}}">
<legend>{{t.only-topics}}</legend>
{{>topic-choices}}
</fieldset>
<p class="hint" id="topics-hint">{{t.key-topics-hint}}</p>
{{/hasTopics}}
{{#errors.topics}}
<p class="error" id="topics-error">{{.}}</p>
{{/errors.topics}}
<div class="field">
<label for="expires">{{t.field-expireAt}}</label>
<input id="expires" name="expires" type="datetime-local" step="any" value="{{expires}}" aria-describedby="expires-hint expires-use{{#errors.expires}} expires-error{{/errors.expires}}"{{#errors.expires}} aria-invalid="true"{{/errors.expires}}>
<p class="hint" id="expires-hint">{{t.utc-hint}}</p>
<p class="hint" id="expires-use">{{t.key-expiry-hint}}</p>
{{#errors.expires}}
<p class="error" id="expires-error">{{.}}</p>
{{/errors.expires}}
</div>
<p class="actions"><button class="primary">{{t.create-key}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("keys-revoke.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject" dir="auto">{{keyLabel}}</p>
{{>keys-facts}}
<p>{{t.key-revocation-text}}</p>
{{#isOwnKey}}
<p class="note bad">{{t.own-key-revocation}}</p>
{{/isOwnKey}}
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<p class="actions"><button class="danger">{{t.key-revocation-button}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("keys-rotate.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject" dir="auto">{{keyLabel}}</p>
{{>keys-facts}}
<p>{{t.key-rotation-text}}</p>
{{#isOwnKey}}
<p class="note bad">{{t.own-key-rotation}}</p>
{{/isOwnKey}}
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="secretName" value="{{secretName}}">
<div class="field">
<label for="overlap">{{t.field-overlap}}</label>
<select id="overlap" name="overlap">
{{#overlaps}}
<option value="{{overlapSeconds}}"{{#isUsual}} selected{{/isUsual}}>{{overlapTitle}}</option>
{{/overlaps}}
</select>
</div>
<p class="actions"><button class="primary">{{t.rotate}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("keys-secret.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject" dir="auto">{{keyLabel}}</p>
<p class="secret" data-copy="{{t.copy}}" data-copied="{{t.copied}}"><code>{{secret}}</code></p>
<p>{{t.key-secret-text}}</p>
<p class="actions"><a class="button" href="{{keysLink}}">{{t.key-secret-done}}</a></p>
</div>
{{>foot}}

"""#
  ),
  ("keys.mustache", #"""
{{>head}}
{{>notices}}
<div class="bar">
<h1>{{heading}}</h1>
<a class="button primary" href="{{newKey}}">{{t.new-key}}</a>
</div>
<p>{{t.keys-text}}</p>
<ul class="rows">
{{#keys}}
<li class="session">
<div>
<p class="title"><span dir="auto">{{keyLabel}}</span></p>
{{>keys-facts}}
</div>
{{#revocation}}
<p class="actions">{{#rotation}}<a class="button" href="{{.}}">{{t.rotate}}<span class="unseen"> {{keyLabel}}</span></a>{{/rotation}} <a href="{{.}}">{{t.revoke}}<span class="unseen"> {{keyLabel}}</span></a></p>
{{/revocation}}
</li>
{{/keys}}
</ul>
{{>pager}}
{{>foot}}

"""#
  ),
  ("link.mustache", #"""
{{>head}}
<div class="narrow">
<h1>{{heading}}</h1>
<p>{{t.link-text}}</p>
<form class="stack" id="link" method="post" action="{{action}}">
<div class="field" id="code-field">
<label for="code">{{t.field-code}}</label>
<input id="code" name="code" type="text" autocomplete="off" spellcheck="false" required aria-describedby="code-hint{{#error}} code-error{{/error}}"{{#error}} aria-invalid="true"{{/error}}>
<p class="hint" id="code-hint">{{t.link-hint}}</p>
{{#error}}
<p class="error" id="code-error" role="alert">{{.}}</p>
{{/error}}
</div>
<p><button class="primary">{{t.sign-in}}</button></p>
</form>
<p><a href="{{signIn}}">{{t.with-key}}</a></p>
</div>
{{>foot}}

"""#
  ),
  ("live-main.mustache", #"""
<p class="hint">{{t.live-as-of}} <time datetime="{{asOfMachine}}">{{asOf}}</time>. {{t.live-process}} {{startedAt}}.</p>
<section class="panel" aria-labelledby="live-requests">
<h2 id="live-requests">{{t.live-requests}}</h2>
<dl class="figures">
<div><dt>{{t.live-request-rate}}</dt><dd><strong>{{requestRate}}</strong> <span>{{requestTotal}}</span></dd></div>
<div><dt>{{t.live-not-modified}}</dt><dd><strong>{{notModifiedShare}}</strong> {{#notModifiedTotal}}<span>{{.}} {{t.live-in-all}}</span>{{/notModifiedTotal}}</dd></div>
<div><dt>{{t.live-sent}}</dt><dd><strong>{{sentBytes}}</strong> <span>{{sentRate}} {{t.live-per-second}}</span></dd></div>
<div><dt>{{t.live-saved}}</dt><dd><strong>{{savedBytes}}</strong> <span>{{savedByNotModified}} {{t.live-by-not-modified}}, {{savedByCompression}} {{t.live-by-compression}}</span></dd></div>
</dl>
<div class="charts">
<figure class="chart">
<figcaption>{{t.live-chart-requests}} <span class="key-first">{{t.live-all}}</span> <span class="key-second">{{t.live-unchanged}}</span></figcaption>
<p class="axis"><span>{{requestTop}}</span></p>
{{{requestChart}}}
<p class="axis"><span>{{t.live-minutes-ago}}</span><span>{{t.live-now}}</span></p>
</figure>
<figure class="chart">
<figcaption>{{t.live-chart-bytes}} <span class="key-first">{{t.live-sent}}</span> <span class="key-second">{{t.live-saved}}</span></figcaption>
<p class="axis"><span>{{byteTop}}</span></p>
{{{byteChart}}}
<p class="axis"><span>{{t.live-minutes-ago}}</span><span>{{t.live-now}}</span></p>
</figure>
</div>
<details id="live-rates">
<summary>{{t.live-as-table}}</summary>
<table>
<caption>{{t.live-rates-caption}}</caption>
<thead><tr><th scope="col">{{t.live-until}}</th><th scope="col">{{t.live-request-rate}}</th><th scope="col">{{t.live-unchanged}}</th><th scope="col">{{t.live-sent}}</th><th scope="col">{{t.live-saved}}</th></tr></thead>
<tbody>
{{#rateRows}}
<tr><th scope="row">{{rateTime}}</th><td>{{rateRequests}}</td><td>{{rateNotModified}}</td><td>{{rateSent}}</td><td>{{rateSaved}}</td></tr>
{{/rateRows}}
</tbody>
</table>
</details>
<p class="hint">{{t.live-counted}}</p>
</section>
<section class="panel" aria-labelledby="live-clients">
<h2 id="live-clients">{{t.live-clients}}</h2>
<dl class="figures">
<div><dt>{{t.live-connections}}</dt><dd><strong>{{connections}}</strong></dd></div>
<div><dt>{{t.live-long-polls}}</dt><dd><strong>{{longPolls}}</strong></dd></div>
<div><dt>{{t.live-event-streams}}</dt><dd><strong>{{eventStreams}}</strong></dd></div>
<div><dt>{{t.live-viewers}}</dt><dd><strong>{{viewers}}</strong></dd></div>
</dl>
<figure class="chart">
<figcaption>{{t.live-chart-polls}} <span class="key-whole">{{t.live-all}}</span> <span class="key-part">{{t.live-unchanged}}</span></figcaption>
<p class="axis"><span>{{pollTop}}</span></p>
{{{pollChart}}}
<p class="axis"><span>{{firstHour}}</span><span>{{t.live-now}}</span></p>
</figure>
<details id="live-hours">
<summary>{{t.live-as-table}}</summary>
{{#hasNoPolls}}
<p>{{t.live-no-polls}}</p>
{{/hasNoPolls}}
{{^hasNoPolls}}
<table>
<caption>{{t.live-hours-caption}}</caption>
<thead><tr><th scope="col">{{t.live-hour}}</th><th scope="col">{{t.live-polls}}</th><th scope="col">{{t.live-unchanged}}</th></tr></thead>
<tbody>
{{#hourRows}}
<tr><th scope="row">{{hourStart}}</th><td>{{hourPolls}}</td><td>{{hourUnchanged}}</td></tr>
{{/hourRows}}
</tbody>
</table>
{{/hasNoPolls}}
</details>
<p class="hint">{{t.live-polls-counted}}</p>
</section>
<section class="panel" aria-labelledby="live-versions">
<h2 id="live-versions">{{t.live-versions}} <span class="count">{{feedVersion}}</span></h2>
{{#hasNoVersions}}
<p class="empty">{{t.live-no-versions}}</p>
{{/hasNoVersions}}
<ol class="rows">
{{#versions}}
<li>
<p class="title"{{#versionLanguage}} lang="{{.}}"{{/versionLanguage}} dir="auto">{{#versionLink}}<a href="{{.}}">{{versionTitle}}</a>{{/versionLink}}{{#isPlain}}{{versionTitle}}{{/isPlain}}</p>
<p class="facts"><span>{{versionNumber}}</span><time datetime="{{versionMachine}}">{{versionTime}}</time>{{#removal}}<span class="state retracted">{{.}}</span>{{/removal}}</p>
</li>
{{/versions}}
</ol>
</section>
{{#isAdministrator}}
<section class="panel" aria-labelledby="live-database">
<h2 id="live-database">{{t.live-database}}</h2>
{{#isSilent}}
<p class="note bad">{{t.live-silent}}</p>
{{/isSilent}}
<dl class="figures">
{{#hasCondition}}
<div><dt>{{t.live-latency}}</dt><dd><strong>{{latency}}</strong></dd></div>
{{/hasCondition}}
<div><dt>{{t.live-pool}}</dt><dd><strong>{{poolLeased}} / {{poolLimit}}</strong> <span>{{poolIdle}} {{t.live-pool-idle}}, {{poolWaiting}} {{t.live-pool-waiting}}</span></dd></div>
{{#hasCondition}}
<div><dt>{{t.live-size}}</dt><dd><strong>{{databaseSize}}</strong> <span>PostgreSQL {{databaseVersion}}</span></dd></div>
<div><dt>{{t.live-schema}}</dt><dd><strong>{{schemaNumber}}</strong>{{#schemaName}} <span>{{.}}</span>{{/schemaName}}</dd></div>
<div><dt>{{t.live-processes}}</dt><dd><strong>{{processes}}</strong></dd></div>
{{/hasCondition}}
{{#standbyReads}}
<div><dt>{{t.live-standby-reads}}</dt><dd><strong>{{readsUsed}}</strong> <span>{{readsBehind}} {{t.live-reads-behind}}, {{readsFailed}} {{t.live-reads-failed}}</span></dd></div>
{{/standbyReads}}
</dl>
{{#hasCondition}}
<h3 id="live-standbys">{{t.live-standbys}}</h3>
{{#hasStandbys}}
<table aria-labelledby="live-standbys">
<thead><tr><th scope="col">{{t.live-standby-name}}</th><th scope="col">{{t.live-standby-address}}</th><th scope="col">{{t.live-standby-state}}</th><th scope="col">{{t.live-standby-lag}}</th><th scope="col">{{t.live-standby-bytes}}</th></tr></thead>
<tbody>
{{#standbys}}
<tr><th scope="row">{{standbyName}}</th><td>{{standbyAddress}}</td><td>{{standbyState}}</td><td>{{standbyLag}}</td><td>{{standbyBytes}}</td></tr>
{{/standbys}}
</tbody>
</table>
{{/hasStandbys}}
{{^hasStandbys}}
<p>{{t.live-no-standbys}}</p>
{{/hasStandbys}}
{{/hasCondition}}
</section>
{{/isAdministrator}}

"""#
  ),
  ("live.mustache", #"""
{{>head}}
<div class="bar">
<h1>{{heading}}</h1>
<p class="actions"><span class="status" role="status" data-status></span><button type="button" id="live-pause" hidden data-pause="{{t.live-pause}}" data-resume="{{t.live-resume}}">{{t.live-pause}}</button><a class="button" href="{{reload}}" id="live-reload">{{t.live-reload}}</a></p>
</div>
<div id="live" data-events="{{events}}" data-ended="{{t.live-ended}}" data-waiting="{{t.live-waiting}}">
{{>live-main}}
</div>
{{>foot}}

"""#
  ),
  ("notices.mustache", #"""
{{#notice}}
<p class="note good" role="status">{{.}}</p>
{{/notice}}
{{#problem}}
<div class="note bad" id="problem" role="alert" tabindex="-1">{{.}}{{#hasProblemFields}}<ul>
{{#problemFields}}
<li>{{#problemLink}}<a href="#{{.}}">{{problemField}}</a>{{/problemLink}}{{^problemLink}}{{problemField}}{{/problemLink}}: {{problemRule}}</li>
{{/problemFields}}
</ul>{{/hasProblemFields}}</div>
{{/problem}}

"""#
  ),
  ("pager.mustache", #"""
{{#hasPager}}
<nav class="pager" aria-label="{{t.pages}}">
{{#firstPage}}
<a class="button" href="{{.}}">{{t.first-page}}</a>
{{/firstPage}}
{{#first}}
<a class="button" href="{{.}}">{{t.newest}}</a>
{{/first}}
{{#older}}
<a class="button" rel="next" href="{{.}}">{{t.older}}</a>
{{/older}}
{{#nextPage}}
<a class="button" rel="next" href="{{.}}">{{t.next-page}}</a>
{{/nextPage}}
</nav>
{{/hasPager}}

"""#
  ),
  ("preview-note.mustache", #"""
<section class="preview-note" aria-label="{{t.preview}}">
<div class="wrap">
<p><strong>{{t.preview}}.</strong> {{noteText}}</p>
{{#editorLink}}
<p><a href="{{.}}">{{t.to-editor}}</a></p>
{{/editorLink}}
{{^editorLink}}
<form method="post" action="{{action}}" enctype="multipart/form-data">
<input type="hidden" name="csrf" value="{{csrf}}">
{{#hidden}}
<input type="hidden" name="{{hiddenName}}" value="{{hiddenValue}}">
{{/hidden}}
<button name="action" value="edit">{{t.to-editor}}</button>
</form>
{{/editorLink}}
</div>
</section>

"""#
  ),
  ("pushes-one.mustache", #"""
{{>head}}
{{>notices}}
<h1 dir="auto">{{heading}}</h1>
<p class="facts"><span class="state">{{pushKind}}</span>{{#pushState}}<span class="state {{pushStateName}}">{{.}}</span>{{/pushState}}{{#itemLink}}<a href="{{.}}">{{t.push-item}}</a>{{/itemLink}}</p>
<section class="panel" aria-labelledby="messages">
<h2 id="messages">{{t.push-messages}}</h2>
<dl class="figures">
<div><dt>{{t.push-audience}}</dt><dd><strong>{{audience}}</strong></dd></div>
<div><dt>{{t.push-sent}}</dt><dd><strong>{{sent}}</strong> {{#sentShare}}<span>{{.}}</span>{{/sentShare}}</dd></div>
<div><dt>{{t.push-refused}}</dt><dd><strong>{{refused}}</strong></dd></div>
<div><dt>{{t.push-gone}}</dt><dd><strong>{{gone}}</strong></dd></div>
<div><dt>{{t.push-dropped}}</dt><dd><strong>{{dropped}}</strong></dd></div>
</dl>
<p class="hint">{{t.push-messages-hint}}</p>
</section>
<section class="panel" aria-labelledby="reports">
<h2 id="reports">{{t.push-reports}}</h2>
<dl class="figures">
<div><dt>{{t.push-reports}}</dt><dd><strong>{{reports}}</strong></dd></div>
<div><dt>{{t.push-woke}}</dt><dd><strong>{{woke}}</strong> {{#wokeShare}}<span>{{.}}</span>{{/wokeShare}}</dd></div>
<div><dt>{{t.push-found}}</dt><dd><strong>{{foundNews}}</strong> {{#foundShare}}<span>{{.}}</span>{{/foundShare}}</dd></div>
</dl>
<p class="hint">{{t.push-reports-hint}}</p>
</section>
<section class="panel" aria-labelledby="times">
<h2 id="times">{{t.push-times}}</h2>
<p class="facts"><span>{{t.push-asked}} <time datetime="{{askedMachine}}">{{askedTime}}</time></span>{{#startsTime}}<span>{{t.push-starts}} <time datetime="{{startsMachine}}">{{.}}</time></span>{{/startsTime}}{{#finishedTime}}<span>{{t.push-finished}} <time datetime="{{finishedMachine}}">{{.}}</time></span>{{/finishedTime}}{{#lastSentTime}}<span>{{t.push-last-sent}} <time datetime="{{lastSentMachine}}">{{.}}</time></span>{{/lastSentTime}}{{#cancelledTime}}<span>{{t.push-cancelled}} <time datetime="{{cancelledMachine}}">{{.}}</time></span>{{/cancelledTime}}</p>
</section>
<p class="pager"><a class="button" href="{{pushesLink}}">{{t.to-pushes}}</a></p>
{{>foot}}

"""#
  ),
  ("pushes.mustache", #"""
{{>head}}
{{>notices}}
<h1>{{heading}}</h1>
<p>{{t.pushes-text}}</p>
{{#hasServices}}
<section class="panel" aria-labelledby="services">
<h2 id="services">{{t.push-services}}</h2>
{{#hasNoServices}}
<p class="note">{{t.no-services}}</p>
{{/hasNoServices}}
<ul class="rows">
{{#services}}
<li>
<p class="title">{{serviceName}}</p>
<p class="facts"><span class="state {{health}}">{{healthTitle}}</span><span>{{t.push-devices}}: {{devices}}</span>{{#pendingDevices}}<span>{{t.push-pending}}: {{.}}</span>{{/pendingDevices}}{{#refusedDevices}}<span>{{t.push-refused-devices}}: {{.}}</span>{{/refusedDevices}}<span>{{t.push-owed}}: {{owed}}</span>{{#overdue}}<span>{{t.push-overdue}}: {{.}}</span>{{/overdue}}</p>
{{#isPaused}}
<p class="failure">{{t.push-paused}} {{#pauseEndTime}}<time datetime="{{pauseEndMachine}}">{{.}}</time>{{/pauseEndTime}}{{#pauseReason}} <span lang="en" dir="auto">({{.}})</span>{{/pauseReason}}</p>
{{/isPaused}}
{{#isRefusing}}
<p class="failure">{{t.push-refusing}} <time datetime="{{refusalMachine}}">{{refusalTime}}</time>{{#refusalReason}} <span lang="en" dir="auto">({{.}})</span>{{/refusalReason}}</p>
{{/isRefusing}}
</li>
{{/services}}
</ul>
</section>
{{/hasServices}}
<section class="panel" aria-labelledby="pushes">
<h2 id="pushes">{{t.push-list}}</h2>
{{#isEmpty}}
<p class="empty">{{t.no-pushes}}</p>
{{/isEmpty}}
<ul class="rows">
{{#pushes}}
<li>
<p class="title"><a href="{{pushLink}}" dir="auto">{{pushTitle}}</a></p>
<p class="facts"><span class="state">{{pushKind}}</span>{{#pushState}}<span class="state {{pushStateName}}">{{.}}</span>{{/pushState}}<time datetime="{{askedMachine}}">{{askedTime}}</time>{{#lastSentTime}}<span>{{t.push-last-sent}} <time datetime="{{lastSentMachine}}">{{.}}</time></span>{{/lastSentTime}}</p>
<p class="facts"><span>{{t.push-audience}}: {{audience}}</span><span>{{t.push-sent}}: {{sent}}{{#sentShare}} ({{.}}){{/sentShare}}</span>{{#refused}}<span>{{t.push-refused}}: {{.}}</span>{{/refused}}{{#gone}}<span>{{t.push-gone}}: {{.}}</span>{{/gone}}{{#dropped}}<span>{{t.push-dropped}}: {{.}}</span>{{/dropped}}{{#reports}}<span>{{t.push-reports}}: {{.}}</span><span>{{t.push-woke}}: {{woke}}{{#wokeShare}} ({{.}}){{/wokeShare}}</span><span>{{t.push-found}}: {{foundNews}}{{#foundShare}} ({{.}}){{/foundShare}}</span>{{/reports}}</p>
</li>
{{/pushes}}
</ul>
{{>pager}}
</section>
{{>foot}}

"""#
  ),
  ("sessions.mustache", #"""
{{>head}}
{{>notices}}
<h1>{{heading}}</h1>
<p>{{t.sessions-text}}</p>
<ul class="rows">
{{#sessions}}
<li class="session">
<div>
<p class="title">{{sessionKey}}{{#isOwnSession}} <span class="state published">{{t.this-session}}</span>{{/isOwnSession}}</p>
<p class="facts"><span>{{t.begun}} <time datetime="{{begunMachine}}">{{begunTime}}</time></span><span>{{t.used}} <time datetime="{{usedMachine}}">{{usedTime}}</time></span><span>{{t.ends}} <time datetime="{{endsMachine}}">{{endsTime}}</time></span></p>
</div>
<form method="post" action="{{endSession}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<button>{{t.end-session}}</button>
</form>
</li>
{{/sessions}}
</ul>
{{>pager}}
{{>foot}}

"""#
  ),
  ("sign-in.mustache", #"""
{{>head}}
<div class="narrow">
<h1>{{heading}}</h1>
<p>{{t.sign-in-text}}</p>
<form class="stack" method="post" action="{{action}}">
{{#next}}
<input type="hidden" name="next" value="{{.}}">
{{/next}}
<div class="field">
<label for="key">{{t.field-key}}</label>
<input id="key" name="key" type="password" autocomplete="current-password" required{{#error}} aria-invalid="true" aria-describedby="key-error"{{/error}}>
{{#error}}
<p class="error" id="key-error" role="alert">{{.}}</p>
{{/error}}
</div>
<p><button class="primary">{{t.sign-in}}</button></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("subscriptions-form.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1 dir="auto">{{heading}}</h1>
{{#isStored}}
{{#isConflict}}
<h2>{{t.theirs}}</h2>
<p class="title" dir="auto">{{subscriptionName}}</p>
{{/isConflict}}
{{>subscriptions-health}}
{{/isStored}}
{{^isStored}}
{{^isPreview}}
<p>{{t.subscription-text}}</p>
{{/isPreview}}
{{/isStored}}
</div>
{{#isPreview}}
<section class="preview" aria-labelledby="preview">
<h2 id="preview">{{t.preview}}: <span class="feed"{{#feedLanguage}} lang="{{.}}"{{/feedLanguage}} dir="auto">{{feedTitle}}</span></h2>
<p class="facts"><span class="address">{{feedAddress}}</span>{{#feedLanguage}}<span>{{t.field-language}}: {{.}}</span>{{/feedLanguage}}<span>{{t.entries}}: {{feedCount}}</span></p>
<p>{{#hasEntries}}{{t.preview-text}}{{/hasEntries}}{{^hasEntries}}{{t.preview-empty}}{{/hasEntries}}</p>
<ul class="rows">
{{#entries}}
<li>
<p class="title"{{#entryLanguage}} lang="{{.}}"{{/entryLanguage}} dir="auto">{{entryTitle}}</p>
{{#entryText}}
<p class="excerpt"{{#entryLanguage}} lang="{{.}}"{{/entryLanguage}} dir="auto">{{.}}</p>
{{/entryText}}
<p class="facts"><span class="state {{entryState}}">{{entryStateTitle}}</span><time datetime="{{entryMachine}}">{{entryTime}}</time>{{#entryTopics}}<span>{{t.field-topics}}: {{.}}</span>{{/entryTopics}}{{#entryLanguage}}<span>{{.}}</span>{{/entryLanguage}}{{#entryFiles}}<span>{{t.field-attachments}}: {{.}}</span>{{/entryFiles}}</p>
</li>
{{/entries}}
</ul>
</section>
{{/isPreview}}
<div class="narrow">
<form class="stack" id="subscription" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
{{#revision}}
<input type="hidden" name="revision" value="{{.}}">
{{/revision}}
{{#previewed}}
<input type="hidden" name="previewed" value="{{.}}">
{{/previewed}}
<div class="field">
<label for="url">{{t.field-feed-url}}</label>
<input id="url" name="url" type="text" inputmode="url" value="{{field.url}}" required autocomplete="off" spellcheck="false"{{#errors.url}} aria-invalid="true" aria-describedby="url-error"{{/errors.url}}>
{{#errors.url}}
<p class="error" id="url-error">{{.}}{{#previewFailureDetail}} <span lang="en" dir="auto">({{.}})</span>{{/previewFailureDetail}}</p>
{{/errors.url}}
</div>
<div class="field">
<label for="state">{{t.field-new-item-state}}</label>
<select id="state" name="state"{{#errors.state}} aria-invalid="true" aria-describedby="state-error"{{/errors.state}}>
<option value="published">{{t.state-published}}</option>
<option value="draft"{{#isDraft}} selected{{/isDraft}}>{{t.state-draft}}</option>
</select>
{{#errors.state}}
<p class="error" id="state-error">{{.}}</p>
{{/errors.state}}
</div>
{{#hasTopics}}
<fieldset class="choices" id="topics" aria-describedby="topics-hint{{#errors.topics}} topics-error{{/errors.topics}}">
<legend>{{t.field-topics}}</legend>
{{>topic-choices}}
</fieldset>
<p class="hint" id="topics-hint">{{t.feed-topics-hint}}</p>
{{/hasTopics}}
{{#errors.topics}}
<p class="error" id="topics-error">{{.}}</p>
{{/errors.topics}}
<div class="field">
<label for="language">{{t.field-language}}</label>
<input id="language" name="language" type="text" value="{{field.language}}" autocomplete="off" spellcheck="false" aria-describedby="language-hint{{#errors.language}} language-error{{/errors.language}}"{{#errors.language}} aria-invalid="true"{{/errors.language}}>
<p class="hint" id="language-hint">{{t.language-hint}} {{t.feed-language-hint}}</p>
{{#errors.language}}
<p class="error" id="language-error">{{.}}</p>
{{/errors.language}}
</div>
<div class="field">
<label for="title">{{t.field-feed-title}}</label>
<input id="title" name="title" type="text" value="{{field.title}}" dir="auto" autocomplete="off" aria-describedby="title-hint{{#errors.title}} title-error{{/errors.title}}"{{#errors.title}} aria-invalid="true"{{/errors.title}}>
<p class="hint" id="title-hint">{{t.feed-title-hint}}</p>
{{#errors.title}}
<p class="error" id="title-error">{{.}}</p>
{{/errors.title}}
</div>
<div class="field">
<label for="user">{{t.field-feed-user}}</label>
<input id="user" name="user" type="text" value="{{field.user}}" autocomplete="off" spellcheck="false" aria-describedby="user-hint{{#errors.user}} user-error{{/errors.user}}"{{#errors.user}} aria-invalid="true"{{/errors.user}}>
<p class="hint" id="user-hint">{{t.feed-user-hint}}</p>
{{#errors.user}}
<p class="error" id="user-error">{{.}}</p>
{{/errors.user}}
</div>
<div class="field">
<label for="password">{{t.field-feed-password}}</label>
<input id="password" name="password" type="password" autocomplete="new-password" aria-describedby="password-hint{{#errors.password}} password-error{{/errors.password}}"{{#errors.password}} aria-invalid="true"{{/errors.password}}>
<p class="hint" id="password-hint">{{#isStored}}{{t.feed-password-kept}}{{/isStored}}{{^isStored}}{{t.feed-password-hint}}{{/isStored}}</p>
{{#errors.password}}
<p class="error" id="password-error">{{.}}</p>
{{/errors.password}}
</div>
{{#isStored}}
<p class="actions"><button class="primary">{{#isConflict}}{{t.save-mine}}{{/isConflict}}{{^isConflict}}{{t.save}}{{/isConflict}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
{{/isStored}}
{{^isStored}}
{{#maySubscribeAnyway}}
<p class="hint" id="anyway-hint">{{t.subscribe-anyway-hint}}</p>
{{/maySubscribeAnyway}}
<p class="actions">{{#mayPreview}}<button name="action" value="preview"{{^maySubscribe}} class="primary"{{/maySubscribe}}>{{t.preview}}</button>{{/mayPreview}}{{#maySubscribe}} <button class="primary" name="action" value="subscribe">{{t.subscribe}}</button>{{/maySubscribe}}{{#maySubscribeAnyway}} <button name="action" value="subscribe" aria-describedby="anyway-hint">{{t.subscribe-anyway}}</button>{{/maySubscribeAnyway}} <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
{{/isStored}}
</form>
</div>
{{>foot}}

"""#
  ),
  ("subscriptions-health.mustache", #"""
<p class="facts"><span class="state {{health}}">{{healthTitle}}</span>{{#subscriptionURL}}<span class="address">{{.}}</span>{{/subscriptionURL}}</p>
<p class="facts">{{#lastPollTime}}<span>{{t.last-poll}} <time datetime="{{lastPollMachine}}">{{.}}</time></span>{{/lastPollTime}}{{^lastPollTime}}<span>{{t.not-polled}}</span>{{/lastPollTime}}{{#lastSuccessTime}}<span>{{t.last-success}} <time datetime="{{lastSuccessMachine}}">{{.}}</time></span>{{/lastSuccessTime}}{{#nextPollTime}}<span>{{t.next-poll}} <time datetime="{{nextPollMachine}}">{{.}}</time></span>{{/nextPollTime}}</p>
<p class="facts"><span>{{t.new-items}}: {{newItemState}}</span>{{#subscriptionTopics}}<span>{{t.field-topics}}: {{.}}</span>{{/subscriptionTopics}}</p>
{{#failure}}
<p class="failure">{{.}}{{#failureDetail}} <span lang="en" dir="auto">({{.}})</span>{{/failureDetail}}{{#failureCount}} <span class="count">{{t.failures}}: {{.}}</span>{{/failureCount}}</p>
{{/failure}}
{{#lossCount}}
<p class="failure">{{t.losses}}: {{.}}{{#lossTime}} <time datetime="{{lossMachine}}">{{.}}</time>{{/lossTime}}</p>
{{/lossCount}}
{{#hasLossMessages}}
<ul class="failure" lang="en" dir="auto">
{{#lossMessages}}
<li>{{lossText}}</li>
{{/lossMessages}}
</ul>
{{/hasLossMessages}}
{{#hub}}
<p class="facts"><span>WebSub: {{hubState}}</span><span class="address">{{.}}</span>{{#hubEndTime}}<span>{{t.hub-end}} <time datetime="{{hubEndMachine}}">{{.}}</time></span>{{/hubEndTime}}{{#hubNoticeTime}}<span>{{t.hub-notice}} <time datetime="{{hubNoticeMachine}}">{{.}}</time></span>{{/hubNoticeTime}}</p>
{{#hubFailure}}
<p class="failure">{{t.hub-failed}} <span lang="en" dir="auto">({{.}})</span></p>
{{/hubFailure}}
{{/hub}}

"""#
  ),
  ("subscriptions-remove.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject" dir="auto">{{subscriptionName}}</p>
{{#subscriptionURL}}
<p class="address">{{.}}</p>
{{/subscriptionURL}}
<p>{{t.subscription-removal-text}}</p>
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="revision" value="{{revision}}">
<p class="actions"><button class="danger">{{t.subscription-removal-button}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("subscriptions.mustache", #"""
{{>head}}
{{>notices}}
<div class="bar">
<h1>{{heading}}</h1>
<a class="button primary" href="{{newSubscription}}">{{t.new-subscription}}</a>
</div>
{{#hasSubscriptions}}
<nav class="tabs" aria-label="{{t.health}}">
<ul>
{{#tabs}}
<li><a href="{{tabLink}}"{{#isCurrentTab}} aria-current="page"{{/isCurrentTab}}>{{tabTitle}} <span class="count">{{tabCount}}</span></a></li>
{{/tabs}}
</ul>
</nav>
<form class="filter" method="get" action="{{listLink}}" role="search">
{{#healthName}}
<input type="hidden" name="health" value="{{.}}">
{{/healthName}}
<div class="field grow">
<label for="search">{{t.search}}</label>
<input id="search" name="q" type="search" value="{{search}}" maxlength="200" aria-describedby="search-hint">
<p class="hint" id="search-hint">{{t.feed-search-hint}}</p>
</div>
<p class="actions"><button>{{t.filter}}</button>{{#unfiltered}} <a href="{{.}}">{{t.unfilter}}</a>{{/unfiltered}}</p>
</form>
{{/hasSubscriptions}}
{{#isEmpty}}
<p class="empty">{{#hasSubscriptions}}{{t.no-feed-found}}{{/hasSubscriptions}}{{^hasSubscriptions}}{{t.no-subscriptions}}{{/hasSubscriptions}}</p>
{{/isEmpty}}
<ul class="rows">
{{#subscriptions}}
<li class="session">
<div>
<p class="title"><a href="{{subscriptionLink}}" dir="auto">{{subscriptionName}}</a></p>
{{>subscriptions-health}}
</div>
<div class="actions">
{{^isPaused}}
<form method="post" action="{{pollLink}}">
<input type="hidden" name="csrf" value="{{csrf}}">
{{#view}}
<input type="hidden" name="view" value="{{.}}">
{{/view}}
<button>{{t.poll-now}}<span class="unseen"> {{subscriptionName}}</span></button>
</form>
{{/isPaused}}
<form method="post" action="{{pauseLink}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="paused" value="{{^isPaused}}true{{/isPaused}}{{#isPaused}}false{{/isPaused}}">
{{#view}}
<input type="hidden" name="view" value="{{.}}">
{{/view}}
<button>{{#isPaused}}{{t.resume}}{{/isPaused}}{{^isPaused}}{{t.pause}}{{/isPaused}}<span class="unseen"> {{subscriptionName}}</span></button>
</form>
<a href="{{removeLink}}">{{t.remove}}<span class="unseen"> {{subscriptionName}}</span></a>
</div>
</li>
{{/subscriptions}}
</ul>
{{>pager}}
{{>foot}}

"""#
  ),
  ("topic-choices.mustache", #"""
{{#topics}}
<p class="check"><input id="topic-{{topicNumber}}" name="topics" type="checkbox" value="{{topicSlug}}"{{#isSelected}} checked{{/isSelected}}> <label for="topic-{{topicNumber}}"{{#topicLanguage}} lang="{{.}}"{{/topicLanguage}}>{{topicTitle}}</label></p>
{{/topics}}
{{#hasOtherTopics}}
<div class="field">
<label for="other-topics">{{t.other-topics}}</label>
<input id="other-topics" name="otherTopics" type="text" value="" autocomplete="off" spellcheck="false" aria-describedby="other-topics-hint">
<p class="hint" id="other-topics-hint">{{t.other-topics-hint}}</p>
</div>
{{/hasOtherTopics}}

"""#
  ),
  ("topics-form.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1 dir="auto">{{heading}}</h1>
{{#isConflict}}
<section class="version" aria-labelledby="stored">
<h2 id="stored">{{t.theirs}}</h2>
<ul>
{{#storedTitles}}
<li><span class="stored" lang="{{storedLanguage}}" dir="auto">{{storedTitle}}</span> <span class="count">{{storedLanguage}}</span></li>
{{/storedTitles}}
</ul>
<p class="facts">{{t.field-position}}: {{storedPosition}}</p>
</section>
{{/isConflict}}
<form class="stack" id="topic" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
{{#revision}}
<input type="hidden" name="revision" value="{{.}}">
{{/revision}}
{{#isNew}}
<div class="field">
<label for="slug">{{t.field-slug}}</label>
<input id="slug" name="slug" type="text" value="{{slug}}" maxlength="64" autocomplete="off" spellcheck="false" required aria-describedby="slug-hint{{#slugError}} slug-error{{/slugError}}"{{#slugError}} aria-invalid="true"{{/slugError}}>
<p class="hint" id="slug-hint">{{t.slug-hint}}</p>
{{#slugError}}
<p class="error" id="slug-error">{{.}}</p>
{{/slugError}}
</div>
{{/isNew}}
{{^isNew}}
<p class="facts"><span class="slug">{{slug}}</span></p>
{{/isNew}}
{{#titlesError}}
<p class="error" id="titles-error">{{.}}</p>
{{/titlesError}}
{{#titles}}
<fieldset class="pair">
<legend>{{t.field-title}} {{titleNumber}}</legend>
<div class="field">
<label for="title-{{titleIndex}}-language">{{t.field-language}}</label>
<input id="title-{{titleIndex}}-language" name="title-{{titleIndex}}-language" type="text" value="{{titleLanguage}}" maxlength="35" autocomplete="off" spellcheck="false"{{#languageError}} aria-invalid="true" aria-describedby="title-{{titleIndex}}-language-error"{{/languageError}}>
{{#languageError}}
<p class="error" id="title-{{titleIndex}}-language-error">{{.}}</p>
{{/languageError}}
</div>
<div class="field">
<label for="title-{{titleIndex}}-text">{{t.field-title}}</label>
<input id="title-{{titleIndex}}-text" name="title-{{titleIndex}}-text" type="text" value="{{titleText}}" dir="auto" autocomplete="off"{{#textError}} aria-invalid="true" aria-describedby="title-{{titleIndex}}-text-error"{{/textError}}>
{{#textError}}
<p class="error" id="title-{{titleIndex}}-text-error">{{.}}</p>
{{/textError}}
</div>
</fieldset>
{{/titles}}
<p class="hint">{{t.language-hint}} {{t.titles-hint}}</p>
<div class="field">
<label for="position">{{t.field-position}}</label>
<input id="position" name="position" type="text" inputmode="numeric" value="{{position}}" autocomplete="off" aria-describedby="position-hint{{#positionError}} position-error{{/positionError}}"{{#positionError}} aria-invalid="true"{{/positionError}}>
<p class="hint" id="position-hint">{{t.position-hint}}</p>
{{#positionError}}
<p class="error" id="position-error">{{.}}</p>
{{/positionError}}
</div>
<p class="actions"><button class="primary" name="action" value="save">{{#isConflict}}{{t.save-mine}}{{/isConflict}}{{^isConflict}}{{t.save}}{{/isConflict}}</button> <button name="action" value="more">{{t.more-titles}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("topics-remove.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="subject" dir="auto">{{topicTitle}}</p>
<p class="facts"><span class="slug">{{slug}}</span><span>{{t.published-items}}: {{publishedItems}}</span></p>
<p>{{t.topic-removal-text}}</p>
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="revision" value="{{revision}}">
<div class="field">
<label for="mergeInto">{{t.field-mergeInto}}</label>
{{#isTyped}}
<input id="mergeInto" name="mergeInto" type="text" value="{{other}}" autocomplete="off" spellcheck="false" aria-describedby="mergeInto-hint mergeInto-slug{{#otherError}} mergeInto-error{{/otherError}}"{{#otherError}} aria-invalid="true"{{/otherError}}>
<p class="hint" id="mergeInto-slug">{{t.merge-slug-hint}}</p>
{{/isTyped}}
{{^isTyped}}
<select id="mergeInto" name="mergeInto" aria-describedby="mergeInto-hint{{#otherError}} mergeInto-error{{/otherError}}"{{#otherError}} aria-invalid="true"{{/otherError}}>
<option value="">{{t.merge-none}}</option>
{{#others}}
<option value="{{otherSlug}}"{{#isSelected}} selected{{/isSelected}}>{{otherTitle}}</option>
{{/others}}
</select>
{{/isTyped}}
<p class="hint" id="mergeInto-hint">{{t.merge-hint}}</p>
{{#otherError}}
<p class="error" id="mergeInto-error">{{.}}</p>
{{/otherError}}
</div>
<p class="actions"><button class="danger">{{t.topic-removal-button}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("topics.mustache", #"""
{{>head}}
{{>notices}}
<div class="bar">
<h1>{{heading}}</h1>
{{#newTopic}}
<a class="button primary" href="{{.}}">{{t.new-topic}}</a>
{{/newTopic}}
</div>
{{#isProtected}}
<p class="note">{{t.topics-protected}}</p>
{{/isProtected}}
{{#isEmpty}}
<p class="empty">{{t.no-topics}}</p>
{{/isEmpty}}
<ul class="rows">
{{#topics}}
<li class="session">
<div>
{{#topicTitles}}
<p class="title"><span lang="{{titleLanguage}}" dir="auto">{{titleText}}</span> <span class="count">{{titleLanguage}}</span></p>
{{/topicTitles}}
{{^hasTitles}}
<p class="title">{{topicSlug}}</p>
{{/hasTitles}}
<p class="facts"><span class="slug">{{topicSlug}}</span>{{#topicItemsLink}}<a href="{{.}}">{{t.published-items}}: {{topicItems}}</a>{{/topicItemsLink}}{{^topicItemsLink}}<span>{{t.published-items}}: {{topicItems}}</span>{{/topicItemsLink}}<span>{{t.field-position}}: {{topicPosition}}</span></p>
</div>
{{#editTopic}}
<p class="actions"><a class="button" href="{{.}}">{{t.edit}}<span class="unseen"> {{topicSlug}}</span></a> <a href="{{removeTopic}}">{{t.topic-remove}}<span class="unseen"> {{topicSlug}}</span></a></p>
{{/editTopic}}
</li>
{{/topics}}
</ul>
{{>pager}}
{{>foot}}

"""#
  ),
  ("webhooks-exists.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="address" dir="auto">{{webhookURL}}</p>
{{>webhooks-facts}}
<p class="actions"><a class="button primary" href="{{rotateLink}}">{{t.rotate}}</a> <a class="button" href="{{newWebhook}}">{{t.new-webhook}}</a> <a href="{{webhooksLink}}">{{t.to-webhooks}}</a></p>
</div>
{{>foot}}

"""#
  ),
  ("webhooks-facts.mustache", #"""
<p class="facts"><span class="state {{health}}">{{healthTitle}}</span>{{#failingSinceTime}}<span>{{t.webhook-failing-since}} <time datetime="{{failingSinceMachine}}">{{.}}</time></span>{{/failingSinceTime}}{{#lastSuccessTime}}<span>{{t.last-success}} <time datetime="{{lastSuccessMachine}}">{{.}}</time></span>{{/lastSuccessTime}}</p>
<p class="facts"><span>{{t.field-events}}: {{webhookEvents}}</span>{{#webhookTopics}}<span>{{t.only-topics}}: {{.}}</span>{{/webhookTopics}}</p>
{{#disabledReason}}
<p class="failure">{{.}}</p>
{{/disabledReason}}
{{#previousEndTime}}
<p class="facts"><span>{{t.previous-webhook-secret}} <time datetime="{{previousEndMachine}}">{{.}}</time></span></p>
{{/previousEndTime}}

"""#
  ),
  ("webhooks-form.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1 dir="auto">{{heading}}</h1>
{{#isConflict}}
<h2>{{t.theirs}}</h2>
<p class="address" dir="auto">{{webhookURL}}</p>
{{>webhooks-facts}}
{{/isConflict}}
{{^isStored}}
<p>{{t.webhook-text}}</p>
{{/isStored}}
<form class="stack" id="webhook" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
{{#revision}}
<input type="hidden" name="revision" value="{{.}}">
{{/revision}}
{{^isStored}}
<input type="hidden" name="once" value="{{once}}">
{{/isStored}}
<div class="field">
<label for="url">{{t.field-webhook-url}}</label>
<input id="url" name="url" type="text" inputmode="url" value="{{url}}" required autocomplete="off" spellcheck="false" aria-describedby="url-hint{{#errors.url}} url-error{{/errors.url}}"{{#errors.url}} aria-invalid="true"{{/errors.url}}>
<p class="hint" id="url-hint">{{t.webhook-url-hint}}</p>
{{#errors.url}}
<p class="error" id="url-error">{{.}}</p>
{{/errors.url}}
</div>
<fieldset id="events"{{#errors.events}} aria-describedby="events-error"{{/errors.events}}>
<legend>{{t.field-events}}</legend>
{{#events}}
<p class="check"><input id="{{eventID}}" name="events" type="checkbox" value="{{eventName}}"{{#isSelectedEvent}} checked{{/isSelectedEvent}}> <label for="{{eventID}}">{{eventTitle}} <span class="count">{{eventName}}</span></label></p>
{{/events}}
{{#errors.events}}
<p class="error" id="events-error">{{.}}</p>
{{/errors.events}}
</fieldset>
{{#lostTopics}}
<p class="note bad">{{t.webhook-lost-topics}}</p>
<input type="hidden" name="lostTopics" value="true">
<p class="check"><input id="all-items" name="allItems" type="checkbox"{{#isForAllItems}} checked{{/isForAllItems}}> <label for="all-items">{{t.webhook-all-items}}</label></p>
{{/lostTopics}}
{{#hasTopics}}
<fieldset class="choices" id="topics" aria-describedby="topics-hint{{#errors.topics}} topics-error{{/errors.topics}}">
<legend>{{t.only-topics}}</legend>
{{>topic-choices}}
</fieldset>
<p class="hint" id="topics-hint">{{t.webhook-topics-hint}}</p>
{{/hasTopics}}
{{#errors.topics}}
<p class="error" id="topics-error">{{.}}</p>
{{/errors.topics}}
<p class="actions"><button class="primary">{{#isStored}}{{#isConflict}}{{t.save-mine}}{{/isConflict}}{{^isConflict}}{{t.save}}{{/isConflict}}{{/isStored}}{{^isStored}}{{t.create-webhook}}{{/isStored}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("webhooks-log.mustache", #"""
{{>head}}
{{>notices}}
<h1>{{heading}}</h1>
<p class="address" dir="auto">{{webhookURL}}</p>
{{>webhooks-facts}}
<div class="actions">
{{^isPaused}}
<form method="post" action="{{testLink}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="once" value="{{once}}">
<button>{{t.webhook-test}}</button>
</form>
{{/isPaused}}
<form method="post" action="{{pauseLink}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="paused" value="{{^isPaused}}true{{/isPaused}}{{#isPaused}}false{{/isPaused}}">
<button>{{#isPaused}}{{t.resume}}{{/isPaused}}{{^isPaused}}{{t.pause}}{{/isPaused}}</button>
</form>
<a class="button" href="{{editLink}}">{{t.edit}}</a>
<a class="button" href="{{rotateLink}}">{{t.rotate}}</a>
<a href="{{removeLink}}">{{t.remove}}</a>
<a href="{{webhooksLink}}">{{t.to-webhooks}}</a>
</div>
<section class="panel" aria-labelledby="log">
<h2 id="log">{{t.webhook-log}}</h2>
{{#isPaused}}
<p class="note">{{t.webhook-paused-hint}}</p>
{{/isPaused}}
{{#isEmpty}}
<p class="empty">{{t.no-deliveries}}</p>
{{/isEmpty}}
<ol class="rows">
{{#deliveries}}
<li class="session">
<div class="delivery">
<h3>{{deliveryEvent}}</h3>
<p class="facts"><span class="state {{deliveryState}}">{{deliveryStateTitle}}</span><time datetime="{{deliveryMachine}}">{{deliveryTime}}</time>{{#nextAttemptTime}}<span>{{t.next-attempt}} <time datetime="{{nextAttemptMachine}}">{{.}}</time></span>{{/nextAttemptTime}}{{#deliveryVersion}}<span>{{t.delivery-version}} {{.}}</span>{{/deliveryVersion}}{{#deliveryItem}}<a href="{{.}}">{{t.push-item}}<span class="unseen"> {{deliveryVersion}}</span></a>{{/deliveryItem}}</p>
{{#attemptCount}}
<details>
<summary>{{t.attempts}}: {{.}}<span class="unseen"> {{deliveryEvent}} {{deliveryTime}}</span></summary>
<ul>
{{#attempts}}
<li>
<p class="facts"><span>{{t.attempt}} {{attemptNumber}}</span><time datetime="{{attemptMachine}}">{{attemptTime}}</time>{{#attemptStatus}}<span>{{t.attempt-status}} {{.}}</span>{{/attemptStatus}}<span>{{attemptDuration}}</span></p>
{{#attemptFailure}}
<p class="failure">{{.}}{{#attemptReason}} <span lang="en" dir="auto">({{.}})</span>{{/attemptReason}}</p>
{{/attemptFailure}}
</li>
{{/attempts}}
</ul>
<p class="hint">webhook-id: <span class="slug">{{deliveryID}}</span></p>
</details>
{{/attemptCount}}
</div>
{{#replay}}
<form method="post" action="{{.}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="once" value="{{replayName}}">
{{#cursor}}
<input type="hidden" name="cursor" value="{{.}}">
{{/cursor}}
<button>{{t.replay}}<span class="unseen"> {{deliveryEvent}} {{deliveryTime}}</span></button>
</form>
{{/replay}}
</li>
{{/deliveries}}
</ol>
{{>pager}}
</section>
{{>foot}}

"""#
  ),
  ("webhooks-remove.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="address" dir="auto">{{webhookURL}}</p>
{{>webhooks-facts}}
<p>{{t.webhook-removal-text}}</p>
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="revision" value="{{revision}}">
<p class="actions"><button class="danger">{{t.webhook-removal-button}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("webhooks-rotate.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="address" dir="auto">{{webhookURL}}</p>
{{>webhooks-facts}}
<p>{{t.webhook-rotation-text}}</p>
{{#previousEndTime}}
<p class="note bad">{{t.webhook-rotation-twice}}</p>
{{/previousEndTime}}
<form class="stack" method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="once" value="{{once}}">
<p class="actions"><button class="primary">{{t.rotate}}</button> <a class="button" href="{{cancel}}">{{t.cancel}}</a></p>
</form>
</div>
{{>foot}}

"""#
  ),
  ("webhooks-secret.mustache", #"""
{{>head}}
{{>notices}}
<div class="narrow">
<h1>{{heading}}</h1>
<p class="address" dir="auto">{{webhookURL}}</p>
<p class="secret" data-copy="{{t.copy}}" data-copied="{{t.copied}}"><code>{{secret}}</code></p>
<p>{{t.webhook-secret-text}}</p>
<p class="actions"><a class="button" href="{{webhookLink}}">{{t.webhook-secret-done}}</a></p>
</div>
{{>foot}}

"""#
  ),
  ("webhooks.mustache", #"""
{{>head}}
{{>notices}}
<div class="bar">
<h1>{{heading}}</h1>
<a class="button primary" href="{{newWebhook}}">{{t.new-webhook}}</a>
</div>
<p>{{t.webhooks-text}}</p>
{{#isEmpty}}
<p class="empty">{{t.no-webhooks}}</p>
{{/isEmpty}}
<ul class="rows">
{{#webhooks}}
<li class="session">
<div>
<p class="title"><a href="{{webhookLink}}" dir="auto">{{webhookURL}}</a></p>
{{>webhooks-facts}}
</div>
<div class="actions">
<form method="post" action="{{pauseLink}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="paused" value="{{^isPaused}}true{{/isPaused}}{{#isPaused}}false{{/isPaused}}">
<button>{{#isPaused}}{{t.resume}}{{/isPaused}}{{^isPaused}}{{t.pause}}{{/isPaused}}<span class="unseen"> {{webhookURL}}</span></button>
</form>
<a href="{{editLink}}">{{t.edit}}<span class="unseen"> {{webhookURL}}</span></a>
<a href="{{removeLink}}">{{t.remove}}<span class="unseen"> {{webhookURL}}</span></a>
</div>
</li>
{{/webhooks}}
</ul>
{{>pager}}
{{>foot}}

"""#
  ),
]
