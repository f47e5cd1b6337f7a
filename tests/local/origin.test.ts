/** The values of --cors-origin. */
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../lib/command-line.ts';
import { parseOrigin } from '../../local/origin.ts';

describe('--cors-origin', () => {
  it.each(['http://localhost:5173', 'http://127.0.0.1:5173', 'http://[::1]:5173', 'https://www.example.com'])(
    'takes %s',
    (origin) => {
      expect(parseOrigin(origin)).toBe(origin);
    },
  );

  it.each([
    ['', "'' is empty; write http://localhost:5173"],
    [' ', "'' is empty; write http://localhost:5173"],
    ['*', '* would let other sites call the API with the token of a visitor; write http://localhost:5173'],
    [
      'https://*.example.com',
      'https://*.example.com would let other sites call the API with the token of a visitor; write http://localhost:5173',
    ],
    [
      'http://a.example,http://b.example',
      'http://a.example,http://b.example is more than one origin; ' +
        'write --cors-origin http://a.example --cors-origin http://b.example',
    ],
    ['localhost:5173', 'localhost:5173 has no scheme; write http://localhost:5173'],
    ['[::1]:5173/', '[::1]:5173/ has no scheme; write http://[::1]:5173'],
    ['www.example.com', 'www.example.com has no scheme; write https://www.example.com'],
    ['http:localhost:5173', 'http:localhost:5173 has no scheme; write http://localhost:5173'],
    ['http://', 'http:// is not an origin; write http://localhost:5173'],
    ['http://localhost:65536', 'http://localhost:65536 is not an origin; write http://localhost:5173'],
    ['file:///index.html', 'file:///index.html is neither http nor https; write http://localhost:5173'],
    ['ws://localhost:5173', 'ws://localhost:5173 is neither http nor https; write http://localhost:5173'],
    ['http://ana@a.example', 'http://ana@a.example has a user name or password; write http://a.example'],
    ['http://a.example?b', 'http://a.example?b has a query; write http://a.example'],
    ['http://a.example#b', 'http://a.example#b has a fragment; write http://a.example'],
    ['http://a.example/b/', 'http://a.example/b/ has a path; write http://a.example'],
    ['http://a.example:81/', 'http://a.example:81/ has a slash at the end; write http://a.example:81'],
    ['http://localhost:80', 'http://localhost:80 is not written as browsers send it; write http://localhost'],
    ['HTTPS://A.example', 'HTTPS://A.example is not written as browsers send it; write https://a.example'],
    [
      'http://münchen.example',
      'http://münchen.example is not written as browsers send it; write http://xn--mnchen-3ya.example',
    ],
  ])('refuses %j and says what to write', (text, message) => {
    expect(() => parseOrigin(text)).toThrow(new UsageError(`--cors-origin ${message}`));
  });
});
