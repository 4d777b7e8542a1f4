import { expect, test } from "vitest";
import { EXIT } from "../../terminal/failure.ts";
import { hostOf, isPrivateAddress, pinTargets } from "./target-addresses.ts";

test.each([
  "127.0.0.1",
  "127.9.9.9",
  "10.255.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.4.4",
  "0.0.0.0",
  "::",
  "::1",
  "fd12:3456::1",
  "fd00:ec2::253",
  "::ffff:127.0.0.1",
  "::ffff:a00:1",
])("%s is the user's own network", (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each([
  "8.8.8.8",
  "172.15.0.1",
  "172.32.0.1",
  "192.169.0.1",
  "100.64.0.1",
  "2001:4860:4860::8888",
  "fec0::1",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "169.254.169.254",
  "169.254.1.1",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "0:0:0:0:0:ffff:a9fe:a9fe",
  "::a9fe:a9fe",
  "64:ff9b::a9fe:a9fe",
  "fe80::1",
  "fe80::1%eth0",
  "febf::1",
  "fd00:ec2::254",
  "fd00:0ec2:0:0:0:0:0:0254",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "example.com",
  "",
])("%j is not", (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});

test.each([
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://0251.0376.0251.0376/",
  "http://[::ffff:169.254.169.254]/",
  "http://[fe80::1]/",
  "http://[fd00:ec2::254]/",
])("%s may be the metadata service of a cloud, and takes the owner's word", async (url) => {
  await expect(pinTargets([url], false)).rejects.toMatchObject({
    message: expect.stringContaining("metadata"),
    remedy: expect.stringContaining("--i-own-this"),
  });
  await expect(pinTargets([url], true)).resolves.toBeDefined();
});

const resolvesTo =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses);

test("a name is judged by every address it has: one public one among private ones is refused", async () => {
  const pin = pinTargets(["http://a.test/"], false, resolvesTo("10.0.0.1", "93.184.216.34"));
  await expect(pin).rejects.toMatchObject({
    message: expect.stringMatching(/a\.test is 93\.184\.216\.34, which is outside/),
    remedy: expect.stringContaining("--i-own-this"),
    exitCode: EXIT.usage,
  });
});

test("a name of one's own machine that also has a link-local address is refused with that address", async () => {
  const pin = pinTargets(["http://box.local/"], false, resolvesTo("192.168.0.7", "fe80::7%eth0"));
  await expect(pin).rejects.toThrow("box.local is fe80::7%eth0, which is link-local");
});

test("what was resolved for the check is what the run connects to, and each name is resolved once", async () => {
  let asked = 0;
  // A server of names that answers differently the second time.
  const rebinding = () => Promise.resolve(asked++ === 0 ? ["10.0.0.1", "fd00::1"] : ["8.8.8.8"]);
  const urls = ["http://a.test/x", "http://a.test:81/y", "http://[::1]:80/", "http://2130706433/"];
  expect(await pinTargets(urls, false, rebinding)).toEqual({
    "a.test": ["10.0.0.1", "fd00::1"],
    "::1": ["::1"],
    "127.0.0.1": ["127.0.0.1"],
  });
  expect(asked).toBe(1);
});

test.each(["constructor", "__proto__"])(
  "a host called %s is looked at like any other",
  async (host) => {
    const pinned = await pinTargets([`http://${host}/`], false, resolvesTo("10.0.0.1"));
    expect(Object.entries(pinned)).toEqual([[host, ["10.0.0.1"]]]);
    await expect(pinTargets([`http://${host}/`], false, resolvesTo("8.8.8.8"))).rejects.toThrow(
      "is outside loopback",
    );
  },
);

test("an owner may, and the addresses are pinned all the same", async () => {
  expect(await pinTargets(["https://a.test/"], true, resolvesTo("8.8.8.8"))).toEqual({
    "a.test": ["8.8.8.8"],
  });
  await expect(pinTargets(["http://8.8.8.8/"], false)).rejects.toThrow(
    "8.8.8.8 is outside loopback",
  );
});

test("a name that resolves to nothing is a mistake of usage with its remedy", async () => {
  const unknown = () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }));
  await expect(pinTargets(["http://no.test/"], true, unknown)).rejects.toMatchObject({
    message: "the host name no.test cannot be resolved (ENOTFOUND)",
    remedy: expect.stringMatching(/./),
  });
  await expect(pinTargets(["http://no.test/"], true, resolvesTo())).rejects.toThrow("no address");
});

test("the host of an IPv6 URL has no brackets", () => {
  expect(hostOf("http://[fd00::1]:8080/x")).toBe("fd00::1");
});
