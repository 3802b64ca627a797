/** Features of Chromium that send requests by themselves, or that bypass the proxy. */
const DISABLED_FEATURES = [
  'AimEnabled',
  'AsyncDns',
  'AttributionReportingInBrowserMigration',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  'DirectSockets',
  'DnsOverHttps',
  'DnsOverHttpsUpgrade',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'InterestFeedContentSuggestions',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationGuideModelDownloading',
  'OptimizationHints',
  'PreconnectToSearch',
  'PrivacySandboxSettings4',
  'Translate',
  'UseDnsHttpsSvcb',
  'WebBluetooth',
  // This feature would announce the names of local addresses to the local network.
  'WebRtcHideLocalIpsWithMdns',
  'WebUsb',
];

const FLAGS = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--no-startup-window',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--mute-audio',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
  '--password-store=basic',
  '--use-mock-keychain',
  '--disable-infobars',
  '--disable-prompt-on-repost',
  '--disable-back-forward-cache',
  '--disable-hang-monitor',
  '--disable-search-engine-choice-screen',
  // Nothing is reported, updated, synchronised or looked up on its own.
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-sync',
  '--metrics-recording-only',
  '--no-pings',
  '--no-service-autorun',
  '--safebrowsing-disable-auto-update',
  // Pages get no devices or data of this machine.
  '--deny-permission-prompts',
  '--disable-notifications',
  '--disable-speech-api',
  // No traffic past the proxy: no name is resolved, and no UDP is sent. WebRTC would ask the local network
  // for a `.local` name even when the name is mapped to nothing. So it is mapped to an address, for which
  // nothing is asked.
  '--host-resolver-rules=MAP *.local 0.0.0.0 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
  // The limit of the heap of a script. Typed arrays are outside of the heap and have no such limit.
  '--js-flags=--max-old-space-size=512',
];

/** Returns the command line of a Chromium that can connect only through a proxy. */
export function chromiumFlags(proxyServer: string): string[] {
  return [
    ...FLAGS,
    `--proxy-server=${proxyServer}`,
    // Without this flag, Chromium reaches loopback addresses directly.
    '--proxy-bypass-list=<-loopback>',
  ];
}
