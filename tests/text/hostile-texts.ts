import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };

/** Texts that attack a page, terminal, mail or spreadsheet, or are hard to show. */
// oxfmt-ignore
export const HOSTILE_TEXTS: string[] = [
  // Markup and scripts
  '<script>document.title = "hacked"</script>', '<img src=x onerror="document.title = \'hacked\'">',
  '"><svg/onload=alert(1)>', '</textarea><iframe src="javascript:alert(1)"></iframe>',
  '<style>* { display: none }</style>', '<base href="https://attacker.example/"><a href="x">x</a>',
  '<meta http-equiv="refresh" content="0;url=https://attacker.example/">', '&lt;b&gt; &amp; &#x3C;i&#x3E;',
  'javascript:alert(1)', '{{constructor.constructor("alert(1)")()}} ${7*7} #{7*7}',
  ']]><!-- --><?xml version="1.0"?>',
  // Header injection
  'Hello\r\nBcc: victim@example.com', 'Hello\nContent-Type: text/html\n\n<b>x</b>', 'Hello\rX-Injected: 1',
  '=?utf-8?B?SGVsbG8=?=', '\r\n.\r\nMAIL FROM:<a@example.com>\r\n',
  '"Ana" <ana@example.com>, victim@example.com',
  // Terminal escapes
  '\u001b[2J\u001b[Hgone', '\u001b]0;title\u0007', '\u001b]52;c;cm0gLXJmIH4K\u0007',
  '\u001b]8;;https://attacker.example/\u001b\\click\u001b]8;;\u001b\\', '\u001b[31mred\u001b[0m',
  '\u009b2J\u009d0;title\u009c', 'over\rwritten', 'back\b\b\b\bspace',
  '\u0000\u0001\u0002\u0007\u000b\u000c\u007f',
  // Direction, invisible and look-alike characters
  '\u202Egnp.exe', '\u2066\u2067\u2068 isolates that never end', 'abc\u202E\u202D\u202B\u202A def',
  '\u200F\u200E\u061C marks', 'zero\u200B\u200C\u200D\u2060\uFEFFwidth',
  'line\u2028paragraph\u2029separators', '\u{E0001}\u{E0041}\u{E0042} tags', 'аpple.com (Cyrillic а)',
  'سؤال عن الفاتورة 123 (abc)', 'שלום <b>world</b>',
  // Formulas
  '=HYPERLINK("https://attacker.example/","x")', '+1+1|cmd', '-2+3', '@SUM(1+1)', '\t=1+1', '\r=1+1', '＝1+1',
  '"=1+1","x"\n=2',
  // Size and shape
  '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(50), 'Z̷̧̢̛̗̰̺̈́͛̾͝'.repeat(40), 'w'.repeat(20_000), 'お問い合わせ'.repeat(200),
  ' \n'.repeat(500), '\uFFFD\uFFFE\uFFFF\u{10FFFF}',
  ...naughtyStrings.filter((text) => text.includes('<')).slice(0, 10),
];
