CREATE EXTERNAL TABLE IF NOT EXISTS `dw`.`insp_dtl` (
  `seq` decimal(10,0),
  `select` decimal(18,2),
  `ratio` decimal(38,10),
  `tiny` decimal(38,30),
  `한글$#` string,
  `back``tick` timestamp,
  `bin` binary,
  `f` float,
  `d` double
)
PARTITIONED BY (`load_date` string, `region` string)
STORED AS PARQUET
TBLPROPERTIES ('external.table.purge'='false');

CREATE EXTERNAL TABLE IF NOT EXISTS `etl`.`insp_dtl__stg_01` (
  `seq` decimal(10,0),
  `select` decimal(18,2),
  `ratio` decimal(38,10),
  `tiny` decimal(38,30),
  `한글$#` string,
  `back``tick` timestamp,
  `bin` binary,
  `f` float,
  `d` double
)
STORED AS PARQUET
LOCATION 'hdfs://nn:8020/stage/it\'s/run_id=01'
TBLPROPERTIES ('external.table.purge'='false');

SELECT count(*),
  count(`seq`),
  sum(cast(`seq` AS decimal(38,0))),
  min(`seq`),
  max(`seq`),
  sum(cast(crc32(cast(`seq` AS string)) AS bigint)),
  count(`select`),
  sum(cast(`select` AS decimal(38,2))),
  min(`select`),
  max(`select`),
  sum(cast(crc32(cast(`select` AS string)) AS bigint)),
  count(`ratio`),
  sum(cast((`ratio` - `ratio` % 1000000000BD) / 1000000000BD AS decimal(38,0))),
  sum(`ratio` % 1000000000BD),
  min(`ratio`),
  max(`ratio`),
  sum(cast(crc32(cast(`ratio` AS string)) AS bigint)),
  count(`tiny`),
  sum(cast((`tiny` - `tiny` % 0.00000000001BD) / 0.00000000001BD AS decimal(38,0))),
  sum(`tiny` % 0.00000000001BD),
  min(`tiny`),
  max(`tiny`),
  sum(cast(crc32(cast(`tiny` AS string)) AS bigint)),
  count(`한글$#`),
  sum(cast(crc32(`한글$#`) AS bigint)),
  count(`back``tick`),
  cast(min(`back``tick`) AS string),
  cast(max(`back``tick`) AS string),
  sum(cast(crc32(cast(`back``tick` AS string)) AS bigint)),
  count(`bin`),
  sum(cast(crc32(`bin`) AS bigint)),
  count(`f`),
  sum(cast(crc32(cast(`f` AS string)) AS bigint)),
  count(`d`),
  sum(cast(crc32(cast(`d` AS string)) AS bigint))
FROM `etl`.`insp_dtl__stg_01`;

INSERT OVERWRITE TABLE `dw`.`insp_dtl` PARTITION (`load_date`='2026-09-28', `region`='a\'b\\')
SELECT `seq`, `select`, `ratio`, `tiny`, `한글$#`, `back``tick`, `bin`, `f`, `d`
FROM `etl`.`insp_dtl__stg_01`;

SELECT count(*),
  count(`seq`),
  sum(cast(`seq` AS decimal(38,0))),
  min(`seq`),
  max(`seq`),
  sum(cast(crc32(cast(`seq` AS string)) AS bigint)),
  count(`select`),
  sum(cast(`select` AS decimal(38,2))),
  min(`select`),
  max(`select`),
  sum(cast(crc32(cast(`select` AS string)) AS bigint)),
  count(`ratio`),
  sum(cast((`ratio` - `ratio` % 1000000000BD) / 1000000000BD AS decimal(38,0))),
  sum(`ratio` % 1000000000BD),
  min(`ratio`),
  max(`ratio`),
  sum(cast(crc32(cast(`ratio` AS string)) AS bigint)),
  count(`tiny`),
  sum(cast((`tiny` - `tiny` % 0.00000000001BD) / 0.00000000001BD AS decimal(38,0))),
  sum(`tiny` % 0.00000000001BD),
  min(`tiny`),
  max(`tiny`),
  sum(cast(crc32(cast(`tiny` AS string)) AS bigint)),
  count(`한글$#`),
  sum(cast(crc32(`한글$#`) AS bigint)),
  count(`back``tick`),
  cast(min(`back``tick`) AS string),
  cast(max(`back``tick`) AS string),
  sum(cast(crc32(cast(`back``tick` AS string)) AS bigint)),
  count(`bin`),
  sum(cast(crc32(`bin`) AS bigint)),
  count(`f`),
  sum(cast(crc32(cast(`f` AS string)) AS bigint)),
  count(`d`),
  sum(cast(crc32(cast(`d` AS string)) AS bigint))
FROM `dw`.`insp_dtl`
WHERE `load_date`='2026-09-28' AND `region`='a\'b\\';

DROP TABLE IF EXISTS `etl`.`insp_dtl__stg_01`;
