import { generateKeyPairSync, sign } from 'node:crypto';

/** DER: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const SEQUENCE = 0x30;
const SET = 0x31;
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value));
const hex = (tag: number, value: string): Buffer => der(tag, Buffer.from(value, 'hex'));

/** A certificate for localhost and its key, both PEM, made on the spot and trusted by nobody. RFC 5280, 4.1 */
export function createSelfSigned(): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = der(SEQUENCE, hex(0x06, '2a8648ce3d040302'));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, hex(0x06, '550403'), text(0x0c, 'localhost'))));
  const toBeSigned = der(
    SEQUENCE,
    hex(0x02, '01'),
    ecdsaWithSha256,
    name,
    der(SEQUENCE, text(0x17, '200101000000Z'), text(0x17, '491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = der(SEQUENCE, toBeSigned, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
