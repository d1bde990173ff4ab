import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf } from './networkOf.js';

test('an IPv4 address is one caller however it is written, an IPv6 network of 64 bits is one', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['no address', 'unknown'],
    [undefined, 'unknown'],
  ] as const) {
    assert.equal(networkOf(address), network, address);
  }
});
